"""Tables of the traffic of the captures."""

from mayfly_papers.chen2012.traffic.captures import tables

SECTIONS = (tables,)
