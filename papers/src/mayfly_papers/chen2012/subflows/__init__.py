"""Chen 2012, 5.1 and 5.3: sub-flows of EFD."""

ID = "chen-2012-subflows"
TITLE = "Chen 2012, 5.1 and 5.3: sub-flows of EFD"
ORDER = 30
"""Place in lists of pages."""

INTRODUCTION = """\
Sub-flows of EFD, where [](../models/efd.md) says what they are: their sizes and arrivals, four variants of EFD, and the
thesis's models of them. Written by `python -m mayfly_papers chen-2012-subflows`;
`tests/papers/test_chen2012_subflows.py` checks the same claims. `python -m mayfly_papers chen-2012-subflows --figures
DIR` draws the figures: one run of each variant, as the thesis.

The thesis ran QualNet 4.5 on a dumbbell without propagation delay, 300 packets of buffer, for 5000 s, the first 100
left out; it names a bounded Pareto law with a CoV of 6. Ours is the `wired` scenario at 10 Mb/s with the law of 4.4.2,
as corrected, at an exact load. Chapter 5 does not say how fast the links of the hosts are, and sub-flows depend on it:
each claim is checked with 100 Mb/s, as in chapter 4, and with 10 Mb/s. What other links and windows give is
[apart](chen-2012-settings.md)."""
