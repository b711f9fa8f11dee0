"""A number that a law or a model takes, and its bounds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """A number above ``low``, or from there on where ``closed``, to ``high``.

    Parameters
    ----------
    name : str
        As the user writes it.
    unit : str
        Empty for a number without one.
    low, high : float
        Bounds, in that unit.
    about : str
        What it means.
    closed : bool
        Whether ``low`` itself is allowed.
    default : float, optional
        Taken when it is not given.
    several : bool
        Whether there may be several numbers, ascending.
    """

    name: str
    unit: str = ""
    low: float = 0.0
    high: float = 1e15
    about: str = ""
    closed: bool = False
    default: float | None = None
    several: bool = False

    def bounds(self) -> str:
        """The bounds in words."""
        return f"from {self.low:g} to {self.high:g}" if self.closed else f"above {self.low:g}, at most {self.high:g}"

    def allows(self, value: float) -> bool:
        """Whether ``value`` is within the bounds."""
        return (self.low <= value if self.closed else self.low < value) and value <= self.high
