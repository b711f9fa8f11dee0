"""A dumbbell whose bottleneck is a shaper: a tree of classes with a queue per circuit (``crates/qdisc/src/htb.rs``).

The senders are on the side of the Internet. Circuits share nothing but the nodes of the tree: a host that sends to
several of them is another one for each, as no server is the bottleneck here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from mayfly.discipline_registry import Discipline, parse
from mayfly.errors import MayflyError
from mayfly.scenario.network import Network, named
from mayfly.scenario.scenario import Scenario, Workload
from mayfly.scenario.tree import Circuit, Node, Tree
from mayfly.simulate.network.dumbbell import Dumbbell
from mayfly.simulate.network.protocol import Alone, Ends, Settings
from mayfly.workload.hosts import Hosts

CIRCUIT = "circuit"
"""Column of flows: name of the circuit; null for flows that pass the shaper unshaped."""

_APART = "\x1f"
"""Between two names that make one: no printable name has it."""


@dataclass(frozen=True)
class Placed:
    """Flows with the numbers of their hosts.

    Parameters
    ----------
    ends : pair of ndarray, shape (n_flows,), uint32
        Numbers of sender and receiver, apart on each side.
    circuits : list of str or None
        Circuit of each host of the receivers' side.
    """

    ends: Ends
    circuits: list[str | None]


def placed(flows: pl.DataFrame) -> Placed:
    """Number the hosts of flows: each of a circuit, on either side.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        With ``src``, ``dst``, ``direction`` and `CIRCUIT`.

    Returns
    -------
    Placed
    """
    up = pl.col("direction") == "up"
    circuit = pl.col(CIRCUIT).fill_null("")
    near, far = pl.when(up).then("dst").otherwise("src"), pl.when(up).then("src").otherwise("dst")
    hosts = [pl.concat_str(circuit, host.cast(pl.String), separator=_APART) for host in (near, far)]
    sides = flows.select(near=hosts[0], far=hosts[1], up=up)
    left, right = ((sides[side].rank("dense") - 1).cast(pl.UInt32).to_numpy() for side in ("near", "far"))
    is_up = sides["up"].to_numpy()
    members = sides["far"].unique().sort().str.split(_APART).list.first()
    ends = np.where(is_up, right, left), np.where(is_up, left, right)
    return Placed(ends, [name or None for name in members])


def leaf_of_circuit(
    circuit: Circuit, network: Network, compared: Discipline, reverse: bool
) -> tuple[Discipline, tuple[int, str]]:
    """Discipline and limit of the queue of a circuit in one direction; what it leaves open is that of the network."""
    written, limit = circuit.discipline, circuit.buffer or network.buffer
    if reverse:
        written = circuit.reverse_discipline or network.reverse_discipline
        limit = circuit.reverse_buffer or circuit.buffer or network.reverse_buffer or network.buffer
    return compared if written in ("compare", "same") else parse(written), limit


def native_tree(
    nodes: Sequence[Node],
    circuits: Sequence[Circuit],
    network: Network,
    compared: Discipline,
    full_packet_bytes: int,
    hosts: Sequence[str | None] = (),
    bin_s: float = 0.0,
) -> dict[str, Any]:
    """A tree, or a part of one, as the native module takes it.

    Parameters
    ----------
    nodes, circuits : sequence
        Of the tree. One whose parent is not among the nodes is at the top, where its ceiling is all it has.
    network : Network
        What circuits leave open.
    compared : Discipline
        Of the queues under comparison.
    full_packet_bytes : int
        Wire length of a full packet, bytes.
    hosts : sequence of (str or None)
        Circuit of each host of the receivers' side.
    bin_s : float
        Length of the intervals in which departures are counted, s; 0 for none.

    Returns
    -------
    dict
        Integers in ns, bit/s, bytes and packets.
    """
    number: dict[str, int] = {}

    def share(given: Node | Circuit, reverse: bool) -> dict[str, Any]:
        rate, ceil = given.shares(reverse)
        top = given.parent not in number
        prio = given.prio if isinstance(given, Circuit) else 0
        own = {"rate_bps": ceil if top else rate, "ceil_bps": ceil, "prio": prio}
        return own | {"burst": given.burst, "cburst": given.burst, "quantum": given.quantum}

    def queue(circuit: Circuit, reverse: bool) -> dict[str, Any]:
        discipline, (limit, unit) = leaf_of_circuit(circuit, network, compared, reverse)
        one = full_packet_bytes if unit == "bytes" else 1
        limit -= one if network.buffer_counts_transmission else 0
        return {"discipline": discipline.native, "limit": {unit: limit}}

    classes: list[dict[str, Any]] = []
    everyone: list[Node | Circuit] = [*nodes, *circuits]
    for given in everyone:
        both = {"down": share(given, False), "up": share(given, True)}
        queues = [queue(given, False), queue(given, True)] if isinstance(given, Circuit) else None
        parent = None if given.parent is None else number.get(given.parent)
        classes.append({"name": given.name, "parent": parent, **both, "queues": queues})
        number[given.name] = len(classes) - 1
    members = [None if name is None else number[name] for name in hosts]
    return {"classes": classes, "circuit_of": members, "bin_ns": round(bin_s * 1e9)}


@dataclass(frozen=True)
class Shaped(Dumbbell):
    """A dumbbell with a tree in place of its link.

    Parameters
    ----------
    tree : Tree
        Section ``[network.tree]``.
    """

    tree: Tree

    path_columns: ClassVar[tuple[str, ...]] = ("down_bps", "up_bps")

    @property
    def rate_bps(self) -> int:
        """What all that is at the top may have together, bit/s."""
        return self._top(reverse=False)

    @property
    def fastest_bps(self) -> float:
        """Ceiling of the fastest circuit, bit/s."""
        return max(max(circuit.shares(False)[1], circuit.shares(True)[1]) for circuit in self.tree.circuit)

    @property
    def byte_ns(self) -> float:
        """Paths differ in it."""
        return 0.0

    def _top(self, reverse: bool) -> int:
        return sum(given.shares(reverse)[1] for given in (*self.tree.node, *self.tree.circuit) if given.parent is None)

    def workload_hosts(self, given: Workload) -> tuple[Hosts, Hosts]:
        """Senders by number; the hosts of all circuits receive."""
        return list(map(str, range(1, given.senders + 1))), list(self.tree.circuit_of())

    def ends(self, source: str | None, sink: str | None) -> tuple[Hosts, Hosts] | None:
        """Hosts of the circuit that an entry of the workload names as its receivers."""
        if source not in (None, "senders"):
            raise MayflyError(f"hosts '{source}': with a tree, what sends is on the side of the Internet: senders")
        if sink in (None, "receivers"):
            return None
        for circuit in self.tree.circuit:
            if circuit.name == sink:
                return ["1"], circuit.members
        known = named(circuit.name for circuit in self.tree.circuit)
        raise MayflyError(f"hosts '{sink}': no such circuit: must be receivers, or one of {known}")

    def of_circuits(self, flows: pl.DataFrame) -> pl.DataFrame:
        """The flows with their circuit.

        Raises
        ------
        MayflyError
            A host on the receivers' side that is in no circuit.
        """
        far = pl.when(pl.col("direction") == "up").then("src").otherwise("dst").cast(pl.String)
        circuit = far.replace_strict(self.tree.circuit_of(), default=None, return_dtype=pl.String)
        found = flows.with_columns(circuit.alias(CIRCUIT))
        if found[CIRCUIT].null_count():
            host = found.filter(pl.col(CIRCUIT).is_null()).select(far).item(0, 0)
            known = named(self.tree.circuit_of())
            raise MayflyError(f"host {host}: in no circuit of the tree: must be one of {known}")
        return found

    @property
    def together(self) -> bool | None:
        """Hosts are numbered by circuit."""
        return None

    def numbers(self, flows: pl.DataFrame) -> Ends:
        """Numbers of the end points, those of each circuit apart."""
        return placed(self.of_circuits(flows)).ends

    def settings(self, compared: Discipline, full_packet_bytes: int, flows: pl.DataFrame | None = None) -> Settings:
        """The tree, and what all that is at the top may have as the rate of the link."""
        hosts = [] if flows is None else placed(self.of_circuits(flows)).circuits
        tree = native_tree(self.tree.node, self.tree.circuit, self.network, compared, full_packet_bytes, hosts)
        rates = {"rate_bps": self._top(reverse=False), "reverse_rate_bps": self._top(reverse=True)}
        return {"graph": None, "wlan": None, "traces": [None, None], "tree": tree, **rates}

    def paths(self, flows: pl.DataFrame) -> pl.DataFrame:
        """The flows with the ceilings of their circuits."""
        rates = {circuit.name: circuit for circuit in self.tree.circuit}
        shares = {
            column: {name: circuit.shares(reverse)[1] for name, circuit in rates.items()}
            for column, reverse in zip(self.path_columns, (False, True), strict=True)
        }
        return self.of_circuits(flows).with_columns(
            pl.col(CIRCUIT).replace_strict(own, return_dtype=pl.Int64).alias(column) for column, own in shares.items()
        )

    def alone(self, transfers: pl.DataFrame, settings: Settings) -> Iterator[Alone]:
        """All of circuits of equal ceilings at once, over a link of that rate."""
        rows = transfers.with_row_index("place")
        for (down, up), own in rows.partition_by(*self.path_columns, as_dict=True, maintain_order=True).items():
            flows = own.drop("place").with_columns(src=pl.lit("1"), dst=pl.lit("1"))
            rates: Mapping[str, Any] = {"tree": None, "rate_bps": down, "reverse_rate_bps": up}
            yield Alone(own["place"].to_list(), rates, flows, super().numbers(flows))


def shaped_of(scenario: Scenario) -> Shaped | None:
    """The dumbbell with a tree of a scenario; None without one.

    Examples
    --------
    >>> from mayfly.scenario.scenario import scenario_of
    >>> tree = {"circuit": [{"name": "home", "ceil": "20mbit", "rate": "2mbit"}]}
    >>> shaped_of(scenario_of({"network": {"tree": tree}}, "example")).rate_bps
    20000000
    """
    tree = scenario.network.tree
    return None if tree is None else Shaped(scenario.network, tree)
