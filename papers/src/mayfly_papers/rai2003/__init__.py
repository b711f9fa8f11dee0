"""Rai 2003: LAS and FIFO under web traffic."""

ID = "rai-2003"
TITLE = "Rai 2003: LAS and FIFO under web traffic"
ORDER = 80
"""Place in lists of pages."""

INTRODUCTION = """\
LAS against FIFO under web traffic: transmission times, active flows and losses by flow size (section 4), then one
long FTP flow and one UDP flow beside the same traffic (section 5). Written by `python -m mayfly_papers rai-2003`;
`tests/papers/test_rai2003.py` checks the same claims.

The report ran ns-2; ours is the `web-ns2` scenario (Reno, initial window 2, minimum timeout 1 s, 60 packets) for
12 000 s, of which the first 2000 s do not count. Three settings are not in the text. The speed of the bottleneck
was only in a figure. Table 1 asks for 2.25 Mb/s when its means are taken as they are, and for 2.75 Mb/s when pages,
objects and sizes are rounded up as ns-2 does; a load of 0.7 then means 3.2 or 3.9 Mb/s, and section 4 is shown at both.
The receiver window is 64 packets, about the buffer, where LAS loses less than FIFO in a run with much traffic, as
printed, and more in the mean; windows of 20 and 1000 are shown beside it. `mayfly reproduce calibrate rai-2003` tries
five windows at four speeds: the printed numbers hardly tell them apart. The report counts about 55 000 one-packet flows
(2198 are 4 % of them) in 10 000 s, ours has 88 000 under the laws of Table 1. Counts of flows are
therefore compared as ratios."""
