"""Claims of 9.2 on captures, and of 9.3.2 on what replays one."""

from mayfly_papers.chen2012.apps import profile, replay

CLAIMS = profile.CLAIMS + replay.CLAIMS
EXPERIMENTS = replay.EXPERIMENTS
