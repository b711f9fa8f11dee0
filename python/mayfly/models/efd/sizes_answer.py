"""What `mayfly model efd-sizes` answers: response times of flows of all sizes under EFD, over a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.laws.service_spec import service_law
from mayfly.models.efd.sizes import TOLERANCE, Dumbbell, EfdSizes
from mayfly.models.efd.subflow_law import FlowPackets
from mayfly.models.queue.answer import QUANTILES
from mayfly.show.notebook import Result

if TYPE_CHECKING:
    from rich.table import Table

UNSETTLED = 0.01
"""Change of the means in the last round from which it is told."""


@dataclass(frozen=True, eq=False, repr=False)
class EfdSizesAnswer(Result):
    """Response times under EFD.

    Parameters
    ----------
    model : EfdSizes
        Flows, load, threshold and network.
    law : str
        Sizes as spelled.
    at : numpy.ndarray, shape (n,)
        Sizes, packets.
    rtt_s : float
        Propagation there and back, s.
    """

    model: EfdSizes
    law: str
    at: Floats
    rtt_s: float

    def document(self) -> dict[str, Any]:
        """All of it for JSON.

        Returns
        -------
        dict
            ``policy, law, rho, threshold, rtt_s, at, response_time, alone, mean, high_load, high_share, change, unit``.
        """
        model = self.model
        return {
            "policy": "efd-sizes",
            "law": self.law,
            "rho": model.rho,
            "threshold": model.threshold,
            "rtt_s": self.rtt_s,
            "at": self.at.tolist(),
            "response_time": model.response(self.at).tolist(),
            "alone": model.alone(self.at).tolist(),
            "mean": model.mean,
            "high_load": model.means.high_load,
            "high_share": model.means.high_load / model.rho,
            "change": model.means.change,
            "unit": "s",
        }

    def table(self) -> Table:
        """Sizes and times as a rich table."""
        from rich import box
        from rich.table import Table

        model = self.model
        title = f"efd: flows of all sizes, load {model.rho:g}, threshold {model.threshold}"
        found = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
        for header in ("packets", "of flows up to it", "response time (s)", "alone (s)", "slowdown"):
            found.add_column(header, justify="right")
        upto = 1 - model.flows.beyond[np.minimum(self.at, len(model.flows.shares))]
        for size, share, time, alone in zip(self.at, upto, model.response(self.at), model.alone(self.at), strict=True):
            found.add_row(str(size), f"{share:.4%}", f"{time:.6g}", f"{alone:.6g}", f"{time / alone:.4g}")
        return found

    def sentences(self) -> list[str]:
        """The mean, the share of the high queue, and whether the search settled, in words."""
        model, means = self.model, self.model.means
        told = [
            f"mean response time {model.mean:.6g} s; {self.law}: mean size {model.flows.mean:.6g} packets",
            f"{means.high_load / model.rho:.1%} of the packets go through the high queue, which holds "
            f"{means.high:.3g} on average",
        ]
        if means.change > max(UNSETTLED, TOLERANCE):
            told.append(f"the means still change by {means.change:.1%}: some packets are only just high or low")
        return told


def efd_sizes_answer(
    law: str, rho: float, threshold: int, network: Dumbbell, at: Sequence[float] | None = None, *, rtt_s: float = 0.0
) -> EfdSizesAnswer:
    """Response times of flows under EFD.

    Parameters
    ----------
    law : str
        Sizes in packets, as :func:`mayfly.laws.service_spec.service_law` reads them.
    rho : float
        Offered load of the packets, above 0, below 1.
    threshold : int
        Packets of a sub-flow that go to the high queue, from 1.
    network : Dumbbell
        Links, TCP and buffer.
    at : sequence of float, optional
        Whole sizes, from 1; quantiles of the law and the threshold when absent.
    rtt_s : float
        Propagation there and back, to be told, s.

    Returns
    -------
    EfdSizesAnswer

    Raises
    ------
    MayflyError
        A value is out of its bounds.

    Examples
    --------
    >>> found = efd_sizes_answer("zipf:min=6,mean=40,cov=6", 0.5, 20, Dumbbell.of_rates(10e6, 0.02), [6, 1000])
    >>> [round(time, 2) for time in found.document()["response_time"]]
    [0.1, 2.48]
    """
    sizes = service_law(law)
    model = EfdSizes(FlowPackets.of_law(sizes), rho, threshold, network)
    if at is None:
        at = [*np.ceil(sizes.quantile(np.array(QUANTILES))).tolist(), threshold]
    wanted = np.unique(np.asarray(at, dtype=float))
    model.response(wanted)
    return EfdSizesAnswer(model, law, wanted.astype(np.int64), rtt_s)
