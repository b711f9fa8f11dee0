"""Beyond the papers: whether Early Flow Discard is still worth deploying in 2026."""

from mayfly_papers.today import runs as today_runs
from mayfly_papers.today import traffic as today_traffic
from mayfly_papers.today import wired as today_wired
from mayfly_papers.today import wlan as today_wlan

CLAIMS = today_wired.CLAIMS + today_traffic.CLAIMS + today_wlan.CLAIMS

EXPERIMENTS = today_runs.EXPERIMENTS
