"""Mayfly's own estimator on the samples of Zhao 2004, II."""

ID = "default-estimator"
TITLE = "Beyond the papers: our own estimator on the runs of Zhao 2004"
ORDER = 150
"""Place in lists of pages."""

KIND = "own"

INTRODUCTION = """\
The statements of Zhao 2004, II, about the published estimator, asked of the default method of `mayfly estimate`
([methods](../estimate/methods.md)) on the same samples. Runs, measures and what counts as accurate are those of
[the published method's page](zhao-2004-ponrt.md). Written by `python -m mayfly_papers default-estimator`;
`tests/papers/test_zhao2004_ponrt.py` checks the same claims."""
