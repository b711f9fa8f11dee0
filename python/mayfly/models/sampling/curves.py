"""What `mayfly model sampling` answers: the probability that a flow is sampled, by size (Chen 2012, Fig. 3.1, 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.service_spec import service_law
from mayfly.models.queue.answer import finite
from mayfly.models.sampling.sampling import Misclassified, misclassified, packets_until_sampled, sampling_probability
from mayfly.show.notebook import Result

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Curve:
    """One lottery.

    Parameters
    ----------
    probability : float
        p, of a packet to be drawn.
    samples : int
        T_s, packets drawn that make a flow sampled.
    sampled : numpy.ndarray, shape (n,)
        Probability that a flow of each size is sampled.
    wrong : Misclassified, optional
        Shares of all flows, where there is a law of sizes.
    """

    probability: float
    samples: int
    sampled: Floats
    wrong: Misclassified | None = None

    @property
    def packets_until_sampled(self) -> float:
        """Packets an endless flow sends on average until it is sampled."""
        return float(packets_until_sampled(self.probability, self.samples))


@dataclass(frozen=True, repr=False)
class Curves(Result):
    """Several lotteries over the same sizes.

    Parameters
    ----------
    at : numpy.ndarray, shape (n,)
        Sizes, packets.
    lotteries : tuple of Curve
        One for each p and T_s.
    threshold : float, optional
        T, packets.
    law : str, optional
        Of all sizes, as spelled.
    """

    at: Floats
    lotteries: tuple[Curve, ...]
    threshold: float | None = None
    law: str | None = None

    def document(self) -> dict[str, Any]:
        """All of it for JSON.

        Returns
        -------
        dict
            ``at, threshold, law`` and ``lotteries``, each with ``p, ts, probability, packets_until_sampled`` and, with
            a law, ``misclassified``.
        """
        return {
            "at": self.at.astype(int).tolist(),
            "threshold": self.threshold,
            "law": self.law,
            "lotteries": [
                {
                    "p": curve.probability,
                    "ts": curve.samples,
                    "probability": curve.sampled.tolist(),
                    "packets_until_sampled": finite(curve.packets_until_sampled),
                    "misclassified": None
                    if curve.wrong is None
                    else {
                        "short_as_long": curve.wrong.short_as_long,
                        "long_as_short": curve.wrong.long_as_short,
                        "total": curve.wrong.total,
                    },
                }
                for curve in self.lotteries
            ],
        }

    def table(self) -> Table:
        """A row per size and a column per lottery, as a rich table."""
        from rich import box
        from rich.table import Table

        found = Table(title="Probability that a flow is sampled", box=box.SIMPLE_HEAD, title_justify="left")
        found.add_column("packets", justify="right")
        for curve in self.lotteries:
            found.add_column(f"p {curve.probability:g}, T_s {curve.samples}", justify="right")
        for row, size in enumerate(self.at):
            found.add_row(f"{size:g}", *(f"{curve.sampled[row]:.4f}" for curve in self.lotteries))
        return found

    def sentences(self) -> list[str]:
        """Packets until sampled, and who is put on the wrong side, in words."""
        told = []
        for curve in self.lotteries:
            after = f"sampled after {curve.packets_until_sampled:g} packets on average"
            text = f"p {curve.probability:g}, T_s {curve.samples}: {after}"
            if curve.wrong is not None:
                text += (
                    f"; {curve.wrong.short_as_long:.2%} of the flows are short and sampled, "
                    f"{curve.wrong.long_as_short:.2%} long and not"
                )
            told.append(text)
        return told


def curves(
    at: Sequence[float],
    probability: Sequence[float] | None = None,
    samples: Sequence[float] = (1,),
    *,
    threshold: float | None = None,
    law: str | None = None,
) -> Curves:
    """Probability of being sampled, by size, for each p and T_s.

    Parameters
    ----------
    at : sequence of float
        Sizes, packets, whole numbers from 0.
    probability : sequence of float, optional
        p, from 0 to 1; when absent T_s / T for each T_s.
    samples : sequence of float
        T_s, whole numbers from 1.
    threshold : float, optional
        T, packets, from 1.
    law : str, optional
        Of all sizes, as :func:`mayfly.laws.service_spec.service_law` reads it: adds the misclassified shares.

    Returns
    -------
    Curves
        With a lottery for each pair.

    Raises
    ------
    MayflyError
        A value out of its bounds, neither p nor a threshold, or a law without a threshold.

    Examples
    --------
    >>> [curve.sampled.round(3).tolist() for curve in curves([10, 100], samples=(1, 5), threshold=50).lotteries]
    [[0.183, 0.867], [0.002, 0.976]]
    """
    if threshold is None and (probability is None or law is not None):
        raise MayflyError("threshold: must be given where p is not, or where there is a law")
    sizes = None if law is None else service_law(law)
    lotteries = []
    for count in samples:
        for p in [None] if probability is None else probability:
            if p is not None:
                chosen = p
            else:
                # Refused above.
                assert threshold is not None
                if not count <= threshold:
                    raise MayflyError(f"ts = {count:g}: must be at most threshold, {threshold:g} packets")
                chosen = count / threshold
            sampled = sampling_probability(at, chosen, count)
            wrong = None
            if sizes is not None:
                assert threshold is not None
                wrong = misclassified(sizes, threshold, count, chosen)
            lotteries.append(Curve(chosen, int(count), sampled, wrong))
    return Curves(np.asarray(at, dtype=float), tuple(lotteries), threshold, law)
