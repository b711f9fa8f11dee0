"""Chen 2012, 8: traffic of an enterprise, on the captures at hand."""

ID = "chen-2012-traffic"
TITLE = "Chen 2012, 8: traffic of an enterprise, on the captures at hand"
ORDER = 50
"""Place in lists of pages."""

KIND = "other captures"

INTRODUCTION = """\
Statements of ch. 8 on the captures at hand, with the numbers of the trace of Eurecom beside ours. That trace is not
public, and [no capture at hand](../profile.md#what-no-capture-at-hand-can-prove) is a day of a large enterprise.
Written from the checkout by `python -m mayfly_papers chen-2012-traffic`; `tests/papers/test_chen2012_traffic.py`
checks the same claims. A number of a capture is a fact of it, so that intervals have no width. *Majority* is more than
half, *no evident difference* medians within a factor of 1.25, *fits best* the smallest AIC of the four laws; the
profiles were known when that was written down. Medians over clients (Fig. 8.7 to 8.10) are of the captures with at
least five of them. Tables 8.3 and 8.4 are [intervals by formula](formulas.md). The figures are drawn by
`python -m mayfly_papers chen-2012-traffic --figures DIR`."""
