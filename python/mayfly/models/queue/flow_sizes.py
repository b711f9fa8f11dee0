"""Sizes of flows as a queue of packets counts them: bytes on the wire, of a law in packets, a sample or a flow list."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.laws.service import Discrete, ServiceLaw

if TYPE_CHECKING:
    import polars as pl

    from mayfly.laws.sizes import QuantileLaw

BINS = 8192
"""Sizes told apart; more are put together with their neighbours, which are within 0.4 % over 14 decades."""


class FlowSizes(Discrete):
    """Sizes of flows, headers included, bytes, and the share of the flows that have each; see :class:`Discrete`."""

    @classmethod
    def of_sample(cls, sizes_bytes: Floats, weights: Floats | None = None) -> FlowSizes:
        """Take sizes as measured.

        Parameters
        ----------
        sizes_bytes : array_like, shape (n_flows,)
            Bytes on the wire, above 0, at most 10^15; in any order.
        weights : array_like, shape (n_flows,), optional
            How often each occurs, such as the steps of a distribution function; once each when not given.

        Returns
        -------
        FlowSizes
            Of at most 8192 different sizes.

        Raises
        ------
        MayflyError
            There is no size, or a size or weight is outside its bounds.

        Examples
        --------
        >>> FlowSizes.of_sample([3000.0, 1500.0, 1500.0, 1500.0]).shares.tolist()
        [0.75, 0.25]
        """
        whole = cls(sizes_bytes, weights)
        if len(whole.values) <= BINS:
            return whole
        edges = np.geomspace(whole.smallest, whole.largest, BINS + 1)[1:-1]
        place = np.digitize(whole.values, edges)
        # With weights the counts are not whole, whatever the types of numpy say.
        share = np.asarray(np.bincount(place, whole.shares), dtype=float)
        kept = share > 0
        return cls((np.bincount(place, whole.shares * whole.values))[kept] / share[kept], share[kept])

    @classmethod
    def of_law(cls, law: QuantileLaw, *, mss: int = 1460, header_bytes: int = 40) -> FlowSizes:
        """Take a law in packets; a TCP flow has two more headers, of SYN and FIN.

        Parameters
        ----------
        law : QuantileLaw
            With a distribution function and quantiles, as all of :mod:`mayfly.laws.sizes`.
        mss, header_bytes : int
            Payload and header of a full packet, bytes.

        Returns
        -------
        FlowSizes
            Of whole packets, as a workload draws them.

        Examples
        --------
        >>> from mayfly.laws.sizes import wired
        >>> round(FlowSizes.of_law(wired()).mean)
        60080
        """
        with np.errstate(divide="ignore"):
            # The largest size of a law without bounds is never drawn.
            last = next(float(top) for top in map(law.quantile, (1.0, 1 - 1e-12)) if np.isfinite(top))
        edges = np.unique(np.floor(np.geomspace(1, max(math.ceil(last), 1), BINS))).clip(min=1)
        edges = np.r_[0, edges]
        share = np.diff(np.r_[0.0, law.cdf(edges[1:])])
        packets = (edges[:-1] + 1 + edges[1:]) / 2
        return cls.of_sample((packets * (mss + header_bytes) + 2 * header_bytes), share)

    @classmethod
    def of_service(cls, law: ServiceLaw, unit_bytes: float = 1.0) -> FlowSizes:
        """Take a law spelled in a line, in any unit.

        Parameters
        ----------
        law : ServiceLaw
            With a density, or of single sizes.
        unit_bytes : float
            Bytes on the wire of a unit of size, above 0.

        Returns
        -------
        FlowSizes
            Of a law with a density the mean sizes of 8192 bins, which keep its mean.

        Raises
        ------
        MayflyError
            A size is out of its bounds.

        Examples
        --------
        >>> from mayfly.laws.service_spec import service_law
        >>> round(FlowSizes.of_service(service_law("exponential:mean=30"), 1500).mean)
        45000
        """
        if not unit_bytes > 0:
            raise MayflyError(f"unit = {unit_bytes:g}: must be above 0 bytes")
        if isinstance(law, Discrete):
            return cls.of_sample(law.values * unit_bytes, law.shares)
        # What lies beyond the last edge is the last size.
        low, high = (float(law.quantile(p)) for p in (1e-9, 1 - 1e-13))
        edges = np.r_[law.smallest, np.geomspace(low, high, BINS), law.largest]
        share, sent = (np.diff(law.partial_moment(order, edges)) for order in (0, 1))
        kept = share > 1e-300
        return cls(sent[kept] / share[kept] * unit_bytes, share[kept])

    @classmethod
    def of_flows(
        cls, flows: pl.DataFrame, *, direction: str = "down", mss: int = 1460, header_bytes: int = 40
    ) -> FlowSizes:
        """Take the TCP flows of a flow list, or of flow records, that go in one direction and end.

        Parameters
        ----------
        flows : polars.DataFrame
            With ``protocol``, ``direction`` and ``size_bytes`` of docs/tables.md.
        direction : str
            ``down`` or ``up``.
        mss, header_bytes : int
            Payload and header of a full packet, bytes.

        Returns
        -------
        FlowSizes
            On the wire, with the headers of all packets, SYN and FIN.

        Raises
        ------
        MayflyError
            There is no such flow.

        Examples
        --------
        >>> from mayfly.workload.lists import flow_list
        >>> import polars as pl
        >>> FlowSizes.of_flows(flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [1461]}))).values.tolist()
        [1621.0]
        """
        payload = ended(flows, direction)["size_bytes"].to_numpy()
        if len(payload) == 0:
            raise MayflyError(f"the flow list has no TCP flow in the direction {direction} that ends")
        return cls.of_sample(payload + (-(-payload // mss) + 2) * header_bytes)


def ended(flows: pl.DataFrame, direction: str) -> pl.DataFrame:
    """The TCP flows of a list that go in one direction and end."""
    import polars as pl

    from mayfly.workload.lists import ENDLESS_BYTES

    return flows.filter(
        (pl.col("protocol") == "tcp") & (pl.col("direction") == direction) & (pl.col("size_bytes") < ENDLESS_BYTES)
    )
