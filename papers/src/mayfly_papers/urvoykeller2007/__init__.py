"""Urvoy-Keller 2007: LAS and LASACK in a wireless cell."""

ID = "urvoy-keller-2007"
TITLE = "Urvoy-Keller 2007: LAS and LASACK in a wireless cell"
ORDER = 90
"""Place in lists of pages."""

INTRODUCTION = """\
LAS and LASACK against FIFO at the access point of a cell of 802.11b: endless flows (section 4), downloads of
heavy-tailed sizes (6) and a mix with uploads (7). Written by `python -m mayfly_papers urvoy-keller-2007`;
`tests/papers/test_urvoy_keller2007.py` checks the same claims.

The report ran QualNet 3.9.5, whose settings it lists in part; ours is the `wlan-b` scenario with a buffer in bytes as
there. As 6.1.1 tells, the FIN rides on the last data and no bare acknowledgement completes the handshake. What the
text leaves open was searched over half of the printed capacities ([what it must have
run](urvoy-keller-2007-settings.md)): *T*, the time at the access point that Eq. 10 starts from, is the sum of the
one-way delays of a flow's packets, less 2 ms for each group that slow start sends and 1.2 ms for each packet. Offered
loads are made exact. Sizes of a continuous law are rounded down to whole packets: the bounded Pareto law of 3 MSS to
20 MB and shape 1.4 has mean 10.13 MSS, rounded down 9.67, which is what Table 1 prints, and only so are there flows
of exactly the smallest size, which the capacity estimate needs. The lognormal law of Table 1 has no smallest size:
ours begins at 3 MSS. Eq. 5 and 10 are corrected: y^i in the integrand, C = lambda k s / (s - 1)."""
