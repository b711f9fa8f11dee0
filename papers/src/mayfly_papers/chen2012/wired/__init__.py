"""Chen 2012, 4.5 and 4.6: the wired network."""

ID = "chen-2012-wired"
TITLE = "Chen 2012, 4.5 and 4.6: the wired network"
ORDER = 10
"""Place in lists of pages."""

INTRODUCTION = """\
The wired evaluation of EFD beside FIFO, LAS, Run2C and LARS, and one CBR flow beside TCP. Written by
`python -m mayfly_papers`; `tests/papers/test_chen2012_wired.py` checks the same claims.

The thesis ran QualNet, whose transport parameters it does not list; ours is the `wired` scenario (RFC 5681,
6298 with a minimum timeout of 1 s, initial window 3, delayed acknowledgements of 200 ms, receiver window 43).
Its loads are shown twice, as printed and as inferred: the flow table of LAS holds the arrivals of 32.5 s (idle
time 30 s plus half the visit of 5 s), so its means in Table 4.1, 392.5 and 704.0, tell 12.1 and 21.7 transfers
per second: with a mean of 40 packets of 1500 bytes 5.8 and 10.4 Mb/s, where 8 and 15 are printed. No seed turns one
into the other. X-Protect samples a packet with a chance of 3 %, which Table 4.1 tells, and LARS has a half-life of 1 s,
which nothing does: [what the thesis must have run](chen-2012-settings.md)."""
