"""Zhao 2004, II and IV: DropTail, RED and RED-ECN under mixed loads."""

ID = "zhao-2004"
TITLE = "Zhao 2004, II and IV: DropTail, RED and RED-ECN under mixed loads"
ORDER = 100
"""Place in lists of pages."""

INTRODUCTION = """\
Long-term TCP flows (LTRF), CBR flows (LTNRF) and short-term TCP flows (STF) behind DropTail, RED and RED-ECN.
Written by `python -m mayfly_papers zhao-2004`; `--figures DIR` draws Figures 26 to 31; `tests/papers/test_zhao2004.py`
checks the same claims.

The dissertation ran ns-2 and does not tell all of its settings. [What it must have run](zhao-2004-settings.md) is a
search over half of the printed numbers: TCP packets of 1040 bytes on the wire, CBR sources in step, 25 and 47 of them
at 100 Mb/s, Reno with a minimum timeout of 1 s and access links of 5 ms in Table III, lower thresholds of RED at 1/4
of the buffer, 1/10 where the buffer is small. The page has this one setting. The phase of the CBR sources decides the
DropTail rows: 1000 bytes at 28 Mb/s take 2/7 ms, so the CBR period of 8 ms is exactly 28 packets of them. Staggered
sources, and access links of 1 ms, are shown beside it; [validation](../validation.md) traces the packets. Numbers of a
class are judged as printed; where the text says which is larger, that is judged too. Shares and utilisation count
payload, which a packet of a CBR flow is as a whole; those of Tables VIII and X are of the link's capacity."""
