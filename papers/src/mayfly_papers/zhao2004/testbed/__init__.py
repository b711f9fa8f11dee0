"""Zhao 2004, III: the estimator in Linux."""

from mayfly_papers.zhao2004.testbed.measures import kernel_document
from mayfly_papers.zhao2004.testbed.scenarios import DISCIPLINE

KERNEL = kernel_document()

ID = "zhao-2004-testbed"
TITLE = "Zhao 2004, III: the estimator in Linux"
ORDER = 120
"""Place in lists of pages."""

KIND = "own"
"""The kernel runs our default method, and so does the simulator here."""

INTRODUCTION = f"""\
The estimate of `sch_estmred` in a Linux kernel beside byte counters, as in III.C, and of `estmred` on the same loads in
the simulator. Written by `python -m mayfly_papers zhao-2004-testbed`; `--figures DIR` draws the figures;
`tests/papers/test_zhao2004_testbed.py` checks the same claims.

Rows of the kernel are not run again: `papers/src/mayfly_papers/zhao2004/testbed/measured` keeps their series,
measured on {KERNEL["date"]}, {KERNEL["kernel"]}, at commit {KERNEL["commit"]}, by `{KERNEL["command"]}`,
with `{KERNEL["leaf"]}`. Rows of the simulator are run, with
`{DISCIPLINE}`.

What is not as in the dissertation, in both: 12 Mb/s in place of 100 and 4 flows in place of 35, which leaves each flow
as many packets in flight; 180 to 240 s in place of more than 300; UDP packets of 1514 bytes in place of 972; ten web
users in place of 200; the default method of the estimator with one set of options, where the dissertation tuned its own
by hand. It draws curves and prints no numbers of its testbed; as in its figures estimate and measurement pass a filter
that keeps 0.975 of the old value, from 60 s on. In the simulator UDP is strictly periodic and shares are of packets, in
the kernel packets come anywhere in their period and shares are of bytes. A seed of the kernel repeats its sources, not
the run: it draws the random numbers of its drops itself."""
