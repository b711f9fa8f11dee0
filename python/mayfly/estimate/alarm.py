"""An alarm on the share that does not respond, with hysteresis (Zhao 2004, II.E, application a)."""

from collections.abc import Sequence
from dataclasses import dataclass

from mayfly.errors import MayflyError
from mayfly.text.quantity import shown


@dataclass(frozen=True)
class Alarm:
    """A stretch of time with too much traffic that does not respond.

    Parameters
    ----------
    raised_s : float
        When it was raised, s.
    cleared_s : float or None
        When it was cleared, s; None while it stands.
    peak : float
        Largest estimate meanwhile.
    """

    raised_s: float
    cleared_s: float | None
    peak: float

    def __str__(self) -> str:
        end = "stands at the end" if self.cleared_s is None else f"to {self.cleared_s:.1f} s"
        return f"from {self.raised_s:.1f} s, {end}, up to {self.peak:.0%}"

    def document(self) -> dict[str, float | None]:
        """For JSON."""
        return {"raised_s": self.raised_s, "cleared_s": self.cleared_s, "peak": self.peak}


def alarms(
    times_s: Sequence[float],
    shares: Sequence[float],
    above: float,
    below: float | None = None,
    *,
    hold: int = 3,
    trusted: Sequence[bool] | None = None,
) -> list[Alarm]:
    """Alarms over a series of estimates.

    Parameters
    ----------
    times_s, shares : sequence of float, length n
        Estimates with their times, s, ascending.
    above : float
        Raised when ``hold`` estimates in a row are above this share, 0 to 1.
    below : float, optional
        Cleared when ``hold`` estimates in a row are below this one, at most ``above``; 0.1 less when not given.
    hold : int
        Estimates in a row, 1 at least: one of them alone is noise.
    trusted : sequence of bool, length n, optional
        Estimates that may be relied on; the others neither raise nor clear, and do not break a row.

    Returns
    -------
    list of Alarm
        In order of time.

    Raises
    ------
    MayflyError
        A bound is outside its range, or the sequences differ in length.

    Notes
    -----
    Between both bounds nothing changes: an estimate that swings by less than ``above - below`` about one of them raises
    one alarm, not many. Cost: O(1) per estimate.

    Examples
    --------
    >>> [alarm.document() for alarm in alarms(range(8), [0.5, 0.8, 0.8, 0.9, 0.65, 0.65, 0.5, 0.5], 0.7, 0.6, hold=2)]
    [{'raised_s': 2, 'cleared_s': 7, 'peak': 0.9}]
    """
    below = max(above - 0.1, 0.0) if below is None else below
    if not 0 <= above <= 1:
        raise MayflyError(f"above = {above}: must be a share from 0 to 1")
    if not 0 <= below <= above:
        raise MayflyError(f"below = {below}: must be from 0 to above, {above}")
    if hold < 1:
        raise MayflyError(f"hold = {hold}: must be at least 1 estimate")
    trusted = [True] * len(shares) if trusted is None else trusted
    if not len(times_s) == len(shares) == len(trusted):
        lengths = f"{len(times_s)}, {len(shares)} and {len(trusted)}"
        raise MayflyError(f"times_s, shares and trusted = {lengths} values: must be as many")
    found, row, raised, peak = [], 0, None, 0.0
    for time_s, share, usable in zip(times_s, shares, trusted, strict=True):
        if not usable:
            continue
        beyond = share > above if raised is None else share < below
        row = row + 1 if beyond else 0
        peak = max(peak, share) if raised is not None or beyond else 0.0
        if row < hold:
            continue
        row = 0
        if raised is None:
            raised = time_s
        else:
            found.append(Alarm(raised, time_s, peak))
            raised, peak = None, 0.0
    if raised is not None:
        found.append(Alarm(raised, None, peak))
    return found


def bounds(text: str) -> tuple[float, float | None]:
    """Bounds of an alarm as a user writes them: ``0.7`` or ``0.7,0.6``.

    Parameters
    ----------
    text : str
        Above, and below where it is not 0.1 less.

    Returns
    -------
    above : float
    below : float or None

    Raises
    ------
    MayflyError
        Not one or two numbers.

    Examples
    --------
    >>> bounds("0.7,0.6"), bounds("0.7")
    ((0.7, 0.6), (0.7, None))
    """
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) not in (1, 2):
        raise MayflyError(f"alarm = {shown(text)}: must be a share such as 0.7, or two such as 0.7,0.6")
    return values[0], values[1] if len(values) == 2 else None
