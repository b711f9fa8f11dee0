"""Statements that a formula answers: sampling, laws of sizes."""

ID = "formulas"
TITLE = "Statements that a formula answers: sampling, laws of sizes"
ORDER = 130
"""Place in lists of pages."""

INTRODUCTION = """\
Sampling of packets (Chen 2012, 3.2), laws of sizes (Urvoy-Keller 2007, 5.1.1; Rai 2003, 4.2), intervals of success
rates (Chen 2012, 8.4.2). Written by `python -m mayfly_papers formulas`; `tests/papers/test_formulas.py` checks the
same claims. Ours are formulas, so intervals have no width. Numbers that a text reads off its figures are compared
within a factor that was written down before; what *noticeable* and *high* mean too."""
