"""What `mayfly model efd` answers: sub-flows of each queue by size, response times of sub-flows and of flows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.service_spec import service_law
from mayfly.models.efd.cuts import Cuts
from mayfly.models.efd.flights import WINDOW, Flights
from mayfly.models.efd.subflow_law import FlowPackets, SubflowLaw
from mayfly.models.efd.variants import VARIANTS, EfdModel
from mayfly.models.queue.answer import finite
from mayfly.show.notebook import Result

if TYPE_CHECKING:
    from rich.table import Table

PACKET_BYTES = 1500
"""Full packet, bytes on the wire."""

SHOWN = (1, 2, 3, 5, 10, 20, 50, 100, 1000, 10_000)
"""Sizes of sub-flows up to which the table counts them."""

NONE = 1e-12
"""Shares below it are roundings."""


@dataclass(frozen=True, eq=False, repr=False)
class EfdAnswer(Result):
    """Sub-flows and response times under variants of EFD.

    Parameters
    ----------
    model : EfdModel
        The queue.
    law, splitting : str
        Sizes as spelled, and where sub-flows come from.
    variants : tuple of str
        High queue + low queue.
    at : numpy.ndarray, shape (n,)
        Sizes, packets, of flows and of sub-flows.
    time_of_one : float
        Time to send a packet.
    seconds : bool
        Whether times are seconds.
    """

    model: EfdModel
    law: str
    splitting: str
    variants: tuple[str, ...]
    at: Floats
    time_of_one: float
    seconds: bool

    def times(self, variant: str) -> dict[str, Floats]:
        """Response times at the sizes: of a sub-flow, of a flow, and of a flow without its control packets."""
        model, one = self.model, self.time_of_one
        return {
            "subflow_response_time": model.subflow_response(variant, self.at) * one,
            "flow_response_time": model.flow_response(variant, self.at) * one,
            "flow_response_time_without_control": model.flow_response(variant, self.at, control=False) * one,
        }

    def queues(self) -> dict[str, SubflowLaw]:
        """Sub-flows in ``all``, and what of them is in ``high`` and in ``low``; no ``low`` where nothing is."""
        law, threshold = self.model.subflows, self.model.threshold
        low = law.low(threshold)
        return {"all": law, "high": law.high(threshold)} | ({} if low is None else {"low": low})

    def document(self) -> dict[str, Any]:
        """All of it for JSON; a time that is infinite is null.

        Returns
        -------
        dict
            ``policy, law, rho, threshold, splitting, subflows_per_flow, high_load, queues, at, variants, unit``.
        """
        queues = {}
        for name, law in self.queues().items():
            kept = law.shares > NONE
            queues[name] = {"cov": law.cov, "size": law.sizes[kept].tolist(), "share": law.shares[kept].tolist()}
        variants = [
            {"variant": variant}
            | {name: [finite(time) for time in times.tolist()] for name, times in self.times(variant).items()}
            for variant in self.variants
        ]
        return {
            "policy": "efd",
            "law": self.law,
            "rho": self.model.rho,
            "threshold": self.model.threshold,
            "splitting": self.splitting,
            "subflows_per_flow": self.model.subflows.per_flow,
            "high_load": self.model.high_load,
            "queues": queues,
            "at": self.at.tolist(),
            "variants": variants,
            "unit": "s" if self.seconds else "packets",
        }

    def tables(self) -> list[Table]:
        """Sub-flows by size, and response times, as rich tables."""
        from rich import box
        from rich.table import Table

        queues = self.queues()
        shares = Table(title="sub-flows of at most so many packets", box=box.SIMPLE_HEAD, title_justify="left")
        for header in ("packets", *(f"{name} queue" if name != "all" else name for name in queues)):
            shares.add_column(header, justify="right")
        largest = len(queues["all"].counts)
        for size in sorted({size for size in (*SHOWN, self.model.threshold) if size < largest} | {largest}):
            shares.add_row(str(size), *(f"{law.upto(size):.2%}" for law in queues.values()))
        title = f"mean response time ({'s' if self.seconds else 'packets'})"
        times = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
        for header in ("variant", "packets", "sub-flow", "flow", "without control packets"):
            times.add_column(header, justify="left" if header == "variant" else "right")
        for variant in self.variants:
            found = self.times(variant)
            for row, size in enumerate(self.at):
                times.add_row(
                    variant if row == 0 else "", str(size), *(f"{value[row]:.6g}" for value in found.values())
                )
        return [shares, times]

    def sentences(self) -> list[str]:
        """Numbers of sub-flows, their variability and the loads in words."""
        model, queues = self.model, self.queues()
        spread = ", ".join(f"{law.cov:.3g} in the {name} queue" for name, law in queues.items() if name != "all")
        return [
            f"a flow of {model.flows.mean:.4g} packets falls into {model.subflows.per_flow:.4g} sub-flows, "
            f"{model.subflows.upto(3):.1%} of them of at most 3 packets ({self.splitting})",
            f"CoV of their size {queues['all'].cov:.3g}, {spread}; the high queue has {model.high_load:.3g} of the "
            f"load of {model.rho:g}",
        ]


def efd_answer(
    law: str,
    rho: float,
    threshold: int = 20,
    at: Sequence[float] | None = None,
    *,
    variants: Sequence[str] = VARIANTS,
    subflows: str | os.PathLike[str] | None = None,
    discipline: str | None = None,
    since_s: float = 0.0,
    window: int = WINDOW,
    rate_bps: float | None = None,
    packet_bytes: float = PACKET_BYTES,
) -> EfdAnswer:
    """Sub-flows and response times under EFD.

    Parameters
    ----------
    law : str
        Sizes of flows in packets, as :func:`mayfly.laws.service_spec.service_law` reads them.
    rho : float
        Offered load of their data, above 0, below 1.
    threshold : int
        Packets of a sub-flow that go to the high queue.
    at : sequence of float, optional
        Whole sizes, 1 or more; some up to the threshold when absent.
    variants : sequence of str
        Of :data:`mayfly.models.efd.variants.VARIANTS`.
    subflows : path, optional
        Table of sub-flows of a run: flows are cut by their law, not into flights.
    discipline, since_s
        As :func:`mayfly.models.efd.subflow_table.read_subflows`.
    window : int
        Largest flight, packets.
    rate_bps : float, optional
        Rate of the link, bit/s: times are then seconds.
    packet_bytes : float
        Bytes of a packet; counts with a rate only.

    Returns
    -------
    EfdAnswer

    Raises
    ------
    MayflyError
        A value is out of its bounds, or the table cannot be read.

    Examples
    --------
    >>> found = efd_answer("zipf:min=6,mean=40,cov=6", 0.5, at=[6], variants=["fifo+fifo"])
    >>> round(found.model.subflows.per_flow, 3), found.times("fifo+fifo")["flow_response_time"].round(3).tolist()
    (5.626, [15.789])
    """
    if not packet_bytes > 0:
        raise MayflyError(f"packet = {packet_bytes:g}: must be above 0 bytes")
    splitting: Flights | Cuts = Flights(window)
    told = f"flights of at most {window} packets"
    if subflows is not None:
        from mayfly.models.efd.subflow_table import data_packets, read_subflows

        splitting = Cuts.of_subflows(data_packets(read_subflows(subflows, discipline, since_s)))
        told = f"cut by the law of {os.fspath(subflows)}"
    model = EfdModel(FlowPackets.of_law(service_law(law)), rho, threshold, splitting)
    sizes = np.asarray([1, 2, 5, 10, threshold] if at is None else at, dtype=float)
    if wrong := sizes[~((sizes >= 1) & (sizes == np.floor(sizes)) & (sizes <= 1e7))].tolist():
        raise MayflyError(f"at = {wrong[0]:g}: must be whole packets, from 1 to 1e+07")
    for variant in variants:
        model.subflow_response(variant, np.array([1]))
    one = 1.0 if rate_bps is None else packet_bytes * 8 / rate_bps
    return EfdAnswer(model, law, told, tuple(variants), np.unique(sizes.astype(np.int64)), one, rate_bps is not None)
