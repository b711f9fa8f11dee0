"""Claims of 4.5 and 4.6: transfers, then a CBR flow beside them."""

from mayfly_papers.chen2012.wired import cbr, transfers

CLAIMS = transfers.CLAIMS + cbr.CLAIMS
EXPERIMENTS = transfers.EXPERIMENTS + cbr.EXPERIMENTS
