"""Chen 2012, 9.3.1: the topological model of an enterprise on the wire."""

ID = "chen-2012-enterprise"
TITLE = "Chen 2012, 9.3.1: the topological model of an enterprise on the wire"
ORDER = 60
"""Place in lists of pages."""

INTRODUCTION = """\
The topological model on the wire; [in a cell](chen-2012-wlan.md#topology-similar) it is among the claims of ch. 6.
Written by `python -m mayfly_papers chen-2012-enterprise`; `tests/papers/test_chen2012_enterprise.py` checks the same
claims. The text has no number of Fig. 9.9 and 9.10, and no load but the words underload and overload: 8 Mb/s is that
of Fig. 9.13, 15 Mb/s the overload of ch. 4; 19 Mb/s puts 10.3 Mb/s on the 10 Mb/s down, as the overload of ch. 4 seems
to have done. *Similar*, *close* and *no difference* are a factor of 1.25, as in the cell."""
