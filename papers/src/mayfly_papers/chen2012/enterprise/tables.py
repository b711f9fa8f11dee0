"""Times of transfers in the enterprise."""

from mayfly_papers.chen2012.enterprise.claims import times_table

SECTIONS = (times_table,)
