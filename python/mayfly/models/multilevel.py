"""An M/G/1 queue of flows with levels of strict priority, which a flow passes one after another as it is served.

Principle: up to the end of a level a flow is delayed by what others send up to the same threshold, whatever they send
behind it. Within a level flows share the server equally, or take turns.

Source: Kleinrock 1976, section 4.7 (multilevel processor sharing); Kleinrock, Muntz and Rodemich 1971 (bulk arrivals).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mayfly.errors import MayflyError

if TYPE_CHECKING:
    import polars as pl

    from mayfly.workload.sizes import SizeLaw

LARGEST_BYTES = 1e12
"""Largest flow: as large as any threshold of a discipline."""

BINS = 8192
"""Sizes told apart; more are put together with their neighbours, which are within 0.4 % over 14 decades."""

CELLS = 96
"""Parts of a level the integral equation is solved on; the means are then right within 0.05 %."""


@dataclass(frozen=True, eq=False)
class FlowSizes:
    """Sizes of flows as the queue counts them, headers included, and the share of the flows that have each.

    Parameters
    ----------
    bytes : numpy.ndarray, shape (n_sizes,)
        Ascending, all different, above 0, at most 10^12 bytes.
    share : numpy.ndarray, shape (n_sizes,)
        Fractions that sum to 1.
    """

    bytes: np.ndarray
    share: np.ndarray

    @classmethod
    def of_sample(cls, sizes_bytes: np.ndarray, weights: np.ndarray | None = None) -> FlowSizes:
        """Take sizes as measured.

        Parameters
        ----------
        sizes_bytes : array_like, shape (n_flows,)
            Bytes on the wire, above 0, at most 10^12; in any order.
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
        >>> FlowSizes.of_sample([3000.0, 1500.0, 1500.0, 1500.0]).share.tolist()
        [0.75, 0.25]
        """
        sizes = np.asarray(sizes_bytes, dtype=float).ravel()
        counts = np.ones(len(sizes)) if weights is None else np.asarray(weights, dtype=float).ravel()
        if len(sizes) == 0 or len(counts) != len(sizes):
            raise MayflyError(f"{len(sizes)} sizes with {len(counts)} weights: must be as many, at least 1")
        if wrong := sizes[~((sizes > 0) & (sizes <= LARGEST_BYTES))].tolist():
            raise MayflyError(f"size = {wrong[0]}: must be above 0 and at most {LARGEST_BYTES:.0e} bytes")
        if not (np.all(counts >= 0) and 0 < counts.sum() < math.inf):
            raise MayflyError("weights: must be 0 or more, finite, and not all 0")
        values, place = np.unique(sizes, return_inverse=True)
        if len(values) > BINS:
            edges = np.geomspace(values[0], values[-1], BINS + 1)[1:-1]
            place = np.digitize(sizes, edges)
        share = np.bincount(place, counts) / counts.sum()
        kept = share > 0
        return cls((np.bincount(place, counts * sizes) / counts.sum())[kept] / share[kept], share[kept])

    @classmethod
    def of_law(cls, law: SizeLaw, *, mss: int = 1460, header_bytes: int = 40) -> FlowSizes:
        """Take a law in packets; a TCP flow has two more headers, of SYN and FIN.

        Parameters
        ----------
        law : SizeLaw
            With a distribution function and quantiles, as all of :mod:`mayfly.workload.sizes`.
        mss, header_bytes : int
            Payload and header of a full packet, bytes.

        Returns
        -------
        FlowSizes
            Of whole packets, as a workload draws them.

        Examples
        --------
        >>> from mayfly.workload.sizes import wired
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
        >>> FlowSizes.of_flows(flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [1461]}))).bytes.tolist()
        [1621.0]
        """
        payload = ended(flows, direction)["size_bytes"].to_numpy()
        if len(payload) == 0:
            raise MayflyError(f"the flow list has no TCP flow in the direction {direction} that ends")
        return cls.of_sample(payload + (-(-payload // mss) + 2) * header_bytes)

    @cached_property
    def mean(self) -> float:
        """Mean size, bytes."""
        return float(self.share @ self.bytes)


def ended(flows: pl.DataFrame, direction: str) -> pl.DataFrame:
    """The TCP flows of a list that go in one direction and end."""
    import polars as pl

    from mayfly.workload.lists import ENDLESS_BYTES

    return flows.filter(
        (pl.col("protocol") == "tcp") & (pl.col("direction") == direction) & (pl.col("size_bytes") < ENDLESS_BYTES)
    )


class Queue:
    """An M/G/1 queue of flows served at one byte per unit of time.

    Parameters
    ----------
    sizes : FlowSizes
        Service times.
    load : float
        Share of the time the server is busy, above 0, below 1.
    """

    def __init__(self, sizes: FlowSizes, load: float):
        self.sizes = sizes
        self.arrival_rate = load / sizes.mean
        # Summed from the far end: differences from 1 would lose the rare flows.
        self.beyond = np.r_[np.cumsum(sizes.share[::-1])[::-1], 0.0]
        self.squares = np.r_[0.0, np.cumsum(sizes.share * sizes.bytes**2)]
        self.knots = np.r_[0.0, sizes.bytes]
        self.work = np.r_[0.0, np.cumsum(np.diff(self.knots) * self.beyond[:-1])]

    def place(self, cut: float) -> int:
        """Sizes that do not exceed ``cut``."""
        return int(np.searchsorted(self.sizes.bytes, cut, side="right"))

    def tail(self, cut: float) -> float:
        """P(X > cut)."""
        return float(self.beyond[self.place(cut)])

    def truncated(self, cut: np.ndarray | float) -> np.ndarray:
        """E[min(X, cut)], bytes."""
        return np.interp(cut, self.knots, self.work)

    def load(self, cut: float) -> float:
        """Load of the flows cut off at ``cut``."""
        return self.arrival_rate * float(self.truncated(cut))

    def backlog(self, cut: float) -> float:
        """Mean unfinished work of the flows cut off at ``cut``, bytes (Pollaczek and Khinchine)."""
        place = self.place(cut)
        square = float(self.squares[place]) + cut**2 * self.tail(cut)
        return self.arrival_rate * square / (2 * (1 - self.load(cut)))


def response_sharing(queue: Queue, above: float, upto: float, at: np.ndarray) -> np.ndarray:
    """Mean response times of flows of sizes ``at`` that end in a level whose flows share the server equally.

    Parameters
    ----------
    queue : Queue
        Sizes and load.
    above, upto : float
        Thresholds of the level, bytes.
    at : numpy.ndarray, shape (n,)
        Sizes, bytes, above < size <= upto.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Times to send as many bytes alone.

    Notes
    -----
    With R and W the load and the mean backlog of the flows cut off at ``above`` = a, a flow reaches the level after
    (W + a) / (1 - R). In the time left to the level, flows come to it at the ends of the busy periods above, in bulks:
    q = P(X > a) of the flows of a busy period, q / (1 - R) in the mean, and beside one of them
    b = 2 lambda q (W + a) / (1 - R) others. The time c(y) to be sent y bytes more solves
    c'(y) = 1 + b G(y) + lambda q / (1 - R) (integral of c'(u) G(y + u) over u > 0, and of c'(u) G(y - u) over u < y)
    with q G(y) = P(X > a + y), y < upto - a (Kleinrock 1976, 4.7). The response time is (W + a + c(y)) / (1 - R).
    """
    idle = 1 - queue.load(above)
    reach = (queue.backlog(above) + above) / idle
    rate = queue.arrival_rate / idle
    length = upto - above
    # Shorter than all there is below the first threshold, and than what matters above another.
    first = min(length / 8, above / 50 if above > 0 else queue.sizes.bytes[0] / 2)
    cuts = np.r_[0.0, np.geomspace(first, length, CELLS)]
    middles, widths = (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)

    def sent(y: np.ndarray) -> np.ndarray:
        """Integral of P(X > a + u) over u < y."""
        return queue.truncated(above + np.clip(y, 0.0, length)) - queue.truncated(above)

    # The slope is constant on each cell: the integrals of the kernel are exact.
    kernel = np.diff(sent(middles[:, None] + cuts)) - np.diff(sent(middles[:, None] - cuts))
    # As many others come with a flow as would come in twice the time it took to the level.
    constant = 1 + 2 * queue.arrival_rate * reach * np.diff(sent(cuts)) / widths
    slope = np.linalg.solve(np.eye(CELLS) - rate * kernel, constant)
    shared = np.r_[0.0, np.cumsum(slope * widths)]
    return reach + np.interp(at - above, cuts, shared) / idle


def response_in_turn(queue: Queue, above: float, upto: float, at: np.ndarray) -> np.ndarray:
    """Mean response times where a level serves flow after flow, as :func:`response_sharing`.

    Notes
    -----
    (W(upto) + x) / (1 - R(above)): all work of this level and those above it goes first, and what comes above while the
    flow is there (Kleinrock 1976, 4.7).
    """
    return (queue.backlog(upto) + at) / (1 - queue.load(above))
