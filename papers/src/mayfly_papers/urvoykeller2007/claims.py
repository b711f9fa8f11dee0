"""Claims: endless transfers, then sizes and mixes."""

from mayfly_papers.urvoykeller2007 import endless, transfers

CLAIMS = endless.CLAIMS + transfers.CLAIMS
EXPERIMENTS = endless.EXPERIMENTS + transfers.EXPERIMENTS
