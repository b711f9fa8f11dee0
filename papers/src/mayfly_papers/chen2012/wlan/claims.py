"""Claims of chapters 6, 7, 9.3.1 and appendix A."""

from mayfly_papers.chen2012.wlan import appendix, cell, mixed, topology

CLAIMS = cell.CLAIMS + mixed.CLAIMS + topology.CLAIMS + appendix.CLAIMS
EXPERIMENTS = cell.EXPERIMENTS + mixed.EXPERIMENTS + topology.EXPERIMENTS + appendix.EXPERIMENTS
