"""Chen 2012, 5.2: models of queues."""

ID = "chen-2012-models"
TITLE = "Chen 2012, 5.2: models of queues"
ORDER = 20
"""Place in lists of pages."""

INTRODUCTION = """\
Queues with Poisson arrivals and one server (M/G/1) beside the packet simulation of FIFO, SCFQ, LAS and Run2C.
Written by `python -m mayfly_papers chen-2012-models`; `tests/papers/test_chen2012_models.py` checks the same
claims. `python -m mayfly_papers chen-2012-models --figures DIR` draws the figures: one run each, as the thesis.

The thesis ran QualNet 4.5 on a dumbbell without propagation delay, 300 packets of buffer, for 5000 s, the first 100
left out; it names a bounded Pareto law of high variability. Ours is the `wired` scenario at 10 Mb/s with the law of
4.4.2, as corrected: bounded Zipf, minimum 6, mean 40 and CoV 6, so at most 12121 packets. Offered loads are made
exact. Run2C has its 30 000 bytes: 21 packets of a flow are high. The models are told of the flows of the run, with
all headers, SYN, FIN and their acknowledgements (another 160 bytes a flow)."""
