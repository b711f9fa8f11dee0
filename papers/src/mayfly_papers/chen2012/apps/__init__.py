"""Chen 2012, 9.2 and 9.3.2: what applications do inside connections."""

ID = "chen-2012-apps"
TITLE = "Chen 2012, 9.2 and 9.3.2: what applications do inside connections"
ORDER = 70
"""Place in lists of pages."""

KIND = "other captures"

INTRODUCTION = """\
What applications do inside connections: the claims of 9.2.2 on well-behaved connections of the captures at hand, and
those of 9.3.2 on one of them, as
[`mayfly whatif --replay trains`](../mechanisms.md#what-applications-do-inside-a-connection)
replays it.

The trace of Eurecom that 9.2.2 measures is not public: a statement that is not so elsewhere is not wrong. The captures
and their sites are those of [ch. 8](chen-2012-traffic.md#tables); of these a side counts that has 30 such connections.
A number of a capture is a fact of it, so that intervals have no width. *Around* and *similar* are within a factor of
1.25, of two distributions the *larger* is so more often than not, *small* pacing is below 1 ms; the numbers were known
when that was written down. The figures are drawn by `python -m mayfly_papers chen-2012-apps --figures DIR`.

For 9.3.2 the thesis replays a trace of its own over UDP; here the form it left to future work, TCP with think times and
paces, stands beside it. Replications deal the begin times of the connections anew. Sizes of recorded flows hold the TCP
headers."""
