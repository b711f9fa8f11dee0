"""Claims of chapter 8: the captures, then their hosts."""

from mayfly_papers.chen2012.traffic import captures, hosts

CLAIMS = captures.CLAIMS + hosts.CLAIMS
