"""Zhao 2004, II and IV: DropTail, RED and RED-ECN under mixed loads."""

ID = "zhao-2004"
TITLE = "Zhao 2004, II and IV: DropTail, RED and RED-ECN under mixed loads"
ORDER = 100
"""Place in lists of pages."""

INTRODUCTION = """\
Long-term TCP flows (LTRF), CBR flows (LTNRF) and short-term TCP flows (STF) behind DropTail, RED and RED-ECN.
Written by `python -m mayfly_papers zhao-2004`; `--figures DIR` draws Figures 26 to 31; `tests/papers/test_zhao2004.py`
checks the same claims.

The dissertation ran ns-2 and tells neither the TCP version of Table III nor the phase of its CBR sources nor the
thresholds of RED in chapter IV (here 1/4 and 3/4 of the buffer). The phase decides the DropTail rows: 1000 bytes at
28 Mb/s take 2/7 ms, so the CBR period of 8 ms is exactly 28 packets of the bottleneck. Both phases are shown, sources
that start in step and staggered ones; [validation](../validation.md) traces the packets. Numbers of a class are judged
as printed; where the text says which is larger, that is judged too. Shares are of the bytes sent."""
