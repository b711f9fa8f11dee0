"""Chen 2012, 6, 7, 9.3.1 and appendix A: a wireless cell."""

ID = "chen-2012-wlan"
TITLE = "Chen 2012, 6, 7, 9.3.1 and appendix A: a wireless cell"
ORDER = 40
"""Place in lists of pages."""

INTRODUCTION = """\
FIFO, SCFQ and size-based disciplines at the access point of a cell of 802.11a: endless uploads against downloads
(6.4), the mixed workload (6.5, with Tables A.1 to A.6), the unit of the buffer (7) and the topological model (9.3.1);
Chen 2013 prints chapter 6 again. Written by `python -m mayfly_papers chen-2012-wlan`;
`tests/papers/test_chen2012_wlan.py` checks the same claims.

The thesis ran QualNet 4.5, which is not public, and lists few of its settings; ours are the scenarios `wlan-5v5`,
`wlan` and `wlan-enterprise`: 802.11a as the standard has it, receiver window 43, initial window 3, delayed
acknowledgements, minimum timeout 1 s. Its mixed workloads ran 5000 s once; for Tables A.1 to A.6 ours run 2000 s four
times, else 1000 s three or four times, with the offered load made exact. Its figures come without their data: the text
is the claim. What its words mean is fixed as numbers at the head of each module, before these runs, for 6 and 7 after
trial runs with one seed. A search over rates and acknowledgements does not tell the cell of the thesis:
[settings](chen-2012-settings.md). Run times are those of a machine shared with others."""
