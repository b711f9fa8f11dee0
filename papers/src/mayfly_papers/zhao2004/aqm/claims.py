"""Claims of II and IV: rates, then delays."""

from mayfly_papers.zhao2004.aqm import delays, rates, scenarios

CLAIMS = rates.CLAIMS + delays.CLAIMS
EXPERIMENTS = scenarios.EXPERIMENTS
