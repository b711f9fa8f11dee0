"""Zhao 2004, II: estimating traffic that does not respond."""

ID = "zhao-2004-ponrt"
TITLE = "Zhao 2004, II: estimating traffic that does not respond"
ORDER = 110
"""Place in lists of pages."""

INTRODUCTION = """\
The share of the packets arriving at a queue that does not respond to drops (PONRT), estimated from mean queue,
arrivals and drops every 33 ms ([methods](../estimate/methods.md)), against the packets counted by class. Written by
`python -m mayfly_papers zhao-2004-ponrt`; `--figures DIR` draws the figures; `tests/papers/test_zhao2004_ponrt.py`
checks the same claims.

MSE and relative error are those of II.C, over the estimates from 100 to 320 s, one each 0.66 s (1.3 s over two
hops, a third of a round trip being 67 ms there). Most printed results are curves; the text tells nine MSEs, of
which the largest, 0.003534, is taken here for "accurate", and 10 % for a relative error (II.C.5). The dissertation
tuned the method by hand for each configuration, by least MSE (V.B), and does not print in what unit the drop
probability enters the regressor, on which the normalised step depends, PZTHD, or what it starts from. *Tuned* is one
setting of these for all runs, the one that half of the printed MSEs choose: p times 10, PZTHD 1, a start of .9
([what it must have run](zhao-2004-settings.md#the-estimator)); gains and filters are those printed. Claims whose names
end in `untuned` have p as a share, PZTHD 3 and a start of one half; "started at the truth" gives the method the true
share at 100 s: what it cannot know. The same statements of
[our own method](default-estimator.md), which knows no more than the samples, the capacity and R_0, are a page of their
own; it runs from 0 s on, the published ones from 100 s.

Not told either, and chosen here: TCP packets of 1040 bytes, Reno with a minimum timeout of 1 s (what comes nearest to
Table III; 16, 22 and 25 CBR flows with SACK and 200 ms too), 22 CBR flows where only the TCP flows are described, 16
beside the short ones, RED thresholds of 25 and 35 for "increased", links of 50 ms in Figure 11."""
