"""What to doubt in a capture, in words; nothing here needs a table."""

from mayfly.text.readable import share_text, time_text

LEAST_CROSSING = 0.05
"""Share of the bytes that crosses between a site and the rest; of less, the link is somewhere else."""

MOSTLY_CROSSING = 0.9
"""Share of the bytes that crosses from which on the rest is not worth a word."""

GAP_OF_S = 86_400.0
"""Only of a capture longer than this is a silence doubtful, s ..."""

GAP_SHARE = 0.9
"""... that lasts for this share of it."""

RTT_BOUNDS_S = (1e-9, 60.0)
"""Round-trip times a flow list may hold, s; a handshake outside them counts as not measured."""


def one_sided_sentence(crossing: float) -> str | None:
    """What to doubt where much of a capture passes between hosts of one side.

    Parameters
    ----------
    crossing : float
        :func:`crossing_share` of the near side.

    Returns
    -------
    str or None
        None where at least :data:`MOSTLY_CROSSING` crosses.
    """
    if crossing >= MOSTLY_CROSSING:
        return None
    return (
        f"{share_text(1 - crossing)} of the bytes pass between hosts of one side: they are taken to pass the link, as "
        "all in the capture, and down is toward who opened the connection; name the near side by --internal, or cut "
        "them out"
    )


def clock_jump_sentence(silence_s: float | None, duration_s: float) -> str | None:
    """What to doubt in a capture of more than a day in which next to nothing passes.

    Parameters
    ----------
    silence_s : float or None
        Longest time in which nothing passes, s.
    duration_s : float
        From the first packet to the last, s.

    Returns
    -------
    str or None
        None where there is no such doubt.

    Examples
    --------
    >>> clock_jump_sentence(1_400_000.0, 1_470_000.0)[:19]
    'nothing passes for '
    >>> clock_jump_sentence(60_000.0, 86_000.0)
    """
    if silence_s is None or duration_s <= GAP_OF_S or silence_s <= GAP_SHARE * duration_s:
        return None
    return (
        f"nothing passes for {time_text(silence_s)} of {time_text(duration_s)}: two captures in one file, or a clock "
        "that jumped; shares of time and mean loads mean nothing: cut it there (editcap -A and -B)"
    )
