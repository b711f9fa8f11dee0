"""Drop probability of a queue in the fluid models: a constant, RED's, or none but of what does not fit."""

from __future__ import annotations

from dataclasses import dataclass

from mayfly.errors import MayflyError


@dataclass(frozen=True)
class FixedDrops:
    """A packet is dropped with one probability, whatever the queue.

    Parameters
    ----------
    share : float
        p, from 0 to below 1.
    """

    share: float
    weight = None
    """No average is kept."""

    def __post_init__(self) -> None:
        if not 0 <= self.share < 1:
            raise MayflyError(f"drops = {self.share:g}: must be from 0 to below 1")

    def probability(self, average: float) -> float:
        """p, of a packet to be dropped early."""
        return self.share

    def slope(self, average: float) -> float:
        """Change of the probability per packet of the average: 0."""
        return 0.0


@dataclass(frozen=True)
class Overflow(FixedDrops):
    """Nothing is dropped early: drop-tail, which the fluid meets only where the buffer is full."""

    share: float = 0.0


@dataclass(frozen=True)
class Red:
    """RED: the probability rises with an average of the queue.

    Parameters
    ----------
    min_th, max_th : float
        Packets, 0 <= min_th < max_th.
    max_p : float
        p_b at max_th, above 0, at most 1.
    weight : float
        w_q, of the present queue in the average, above 0, below 1.
    gentle : bool
        Beyond ``max_th`` the probability rises to 1 at twice of it; else it is 1.
    spacing : str
        Packets from one drop to the next: ``uniform`` on 1 to 1/p_b, or ``wait``, on 1/p_b to 2/p_b (ns-2).

    Raises
    ------
    MayflyError
        A value out of its bounds.

    Notes
    -----
    The spacing makes the share that is dropped another than p_b: the mean interval is (1 + 1/p_b) / 2, or
    3/(2 p_b) - 1/2 with ``wait``, so the share is 2 p_b / (1 + p_b), or 2 p_b / (3 - p_b). The fluid has that share: at
    10 % the two differ by a factor of 2.6.

    Examples
    --------
    >>> Red(15, 45, 0.1).probability(45), Red(15, 45, 0.1, spacing="wait").probability(45)
    (0.18181818181818182, 0.06896551724137931)
    """

    min_th: float
    max_th: float
    max_p: float = 0.1
    weight: float = 0.002
    gentle: bool = True
    spacing: str = "uniform"

    def __post_init__(self) -> None:
        if not 0 <= self.min_th < self.max_th:
            raise MayflyError(f"min_th = {self.min_th:g}: must be from 0 to below max_th, {self.max_th:g} packets")
        for name, low in (("max_p", 1.0), ("weight", 0.999999)):
            if not 0 < getattr(self, name) <= low:
                raise MayflyError(f"{name} = {getattr(self, name):g}: must be above 0, at most {low:g}")
        if self.spacing not in ("uniform", "wait"):
            raise MayflyError(f"spacing = {self.spacing}: must be uniform or wait")

    def _base(self, average: float) -> tuple[float, float]:
        """p_b and its slope."""
        if average < self.min_th:
            return 0.0, 0.0
        if average < self.max_th:
            slope = self.max_p / (self.max_th - self.min_th)
            return slope * (average - self.min_th), slope
        if self.gentle and average < 2 * self.max_th:
            slope = (1 - self.max_p) / self.max_th
            return self.max_p + slope * (average - self.max_th), slope
        return 1.0, 0.0

    def probability(self, average: float) -> float:
        """Share of the packets that is dropped early at an average queue, packets."""
        base = self._base(average)[0]
        return 2 * base / (1 + base) if self.spacing == "uniform" else 2 * base / (3 - base)

    def slope(self, average: float) -> float:
        """Change of the share per packet of the average."""
        base, slope = self._base(average)
        return slope * (2 / (1 + base) ** 2 if self.spacing == "uniform" else 6 / (3 - base) ** 2)


DropLaw = FixedDrops | Red
"""Any of them."""
