"""The flows of the circuits of a tree: of a capture, by address, or drawn for each from a household's scenario."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario
from mayfly.scenario.tree import Circuit
from mayfly.simulate.network.tree import CIRCUIT
from mayfly.simulate.run import workload
from mayfly.summary_types import Accounted
from mayfly.workload import stages
from mayfly.workload.arrivals import stream

if TYPE_CHECKING:
    from mayfly.trees.network_file import Provider

MOST_DRAWN = 500
"""Households that are drawn; of more circuits, several have the same one, begun at another moment."""

_APART = 10_000_000
"""Between the stages of two circuits."""

MOST_NAMED = 5


class Drawn:
    """A household for each circuit.

    Parameters
    ----------
    scenario : Scenario
        Its workload is that of one household: ``senders`` are on the Internet, receivers in the house.
    circuits : sequence of Circuit
        All of the tree.

    Notes
    -----
    Each circuit has a household of its own, up to `MOST_DRAWN` of them. It begins at a moment that is drawn for the
    circuit, so that those of one household are not in step: what would start after the end starts at the beginning, but
    for flows that wait for others.
    """

    def __init__(self, scenario: Scenario, circuits: Sequence[Circuit]):
        count = min(len(circuits), MOST_DRAWN)
        self._duration_s = scenario.duration
        self._households = [self._drawn(scenario, number) for number in range(count)]
        self._number = {circuit.name: at for at, circuit in enumerate(circuits)}
        self._shift_s: Floats = stream(scenario.seed, "tree", "households").random(len(circuits)) * scenario.duration

    def _drawn(self, scenario: Scenario, number: int) -> pl.DataFrame:
        # Seeds of scenarios are 63 bits; those of replications follow each other.
        seed = (scenario.seed + (number + 1) * 1_000_003) % 2**63
        flows = workload(scenario.model_copy(update={"seed": seed}))
        return flows.with_columns(pl.col("src", "dst").cast(pl.String))

    def __call__(self, circuits: Sequence[Circuit]) -> pl.DataFrame:
        """Flows of some circuits, by start."""
        parts = []
        for place, circuit in enumerate(circuits):
            number = self._number[circuit.name]
            own = self._households[number % len(self._households)]
            begins = (pl.col("start_s") + self._shift_s[number]) % self._duration_s
            if stages.is_closed_loop(own):
                begins = pl.when(pl.col("after").is_null()).then(begins).otherwise("start_s")
            apart = [pl.col(name) + place * _APART for name in ("stage", "after") if name in own.columns]
            parts.append(own.with_columns(begins.alias("start_s"), pl.lit(circuit.name).alias(CIRCUIT), *apart))
        return numbered(pl.concat(parts, how="diagonal"))


def numbered(flows: pl.DataFrame) -> pl.DataFrame:
    """The flows by start, with ids from 0 on."""
    ordered = flows.sort("start_s", CIRCUIT, maintain_order=True)
    return ordered.with_columns(flow_id=pl.int_range(ordered.height, dtype=pl.Int64))


@dataclass(frozen=True)
class Captured:
    """Flows of captures.

    Parameters
    ----------
    flows : polars.DataFrame, shape (n_flows, ...)
        Those of circuits, with `CIRCUIT`.
    span_s : float
        How long the captures last, s.
    notes : list of str
        What is not among them, in sentences.
    account : Accounted
        How much of the captures was seen, used and left out by reason.
    """

    flows: pl.DataFrame
    span_s: float
    notes: list[str]
    account: Accounted

    def __call__(self, circuits: Sequence[Circuit]) -> pl.DataFrame:
        """Flows of some circuits, by start."""
        return numbered(self.flows.filter(pl.col(CIRCUIT).is_in([circuit.name for circuit in circuits])))


def captured(captures: Sequence[str | os.PathLike[str]], provider: "Provider") -> Captured:
    """Read captures, and give each flow to the circuit whose address it has.

    Parameters
    ----------
    captures : sequence of path
        Read as one.
    provider : Provider

    Returns
    -------
    Captured
        A flow between two circuits passes no tree and is left out, as is one of no circuit.

    Raises
    ------
    MayflyError
        A capture that cannot be read, or none of whose hosts is in a circuit.
    """
    from mayfly.workload.account import account_of, aside_of, cannot_answer
    from mayfly.workload.capture import flows_of_connections, hosts_of
    from mayfly.workload.connections import read_captures
    from mayfly.workload.copies import copies_sentence

    reading = read_captures(captures)
    frame = reading.connections
    owners = {host: circuit for host in hosts_of(frame) if (circuit := provider.circuit_of(host)) is not None}
    told = ", ".join(os.fspath(path) for path in captures)
    if not owners:
        some = ", ".join(sorted(hosts_of(frame))[:MOST_NAMED])
        raise MayflyError(f"{told}: no host of it is in a circuit of the tree; hosts are {some}")
    opener = pl.col("opener").replace_strict(owners, default=None, return_dtype=pl.String)
    responder = pl.col("responder").replace_strict(owners, default=None, return_dtype=pl.String)
    frame = frame.filter(pl.col("protocol") != "icmp").with_columns(_opener=opener, _responder=responder)
    wire = pl.col("opener_wire_bytes") + pl.col("responder_wire_bytes")
    inside = pl.col("_opener").is_not_null() & pl.col("_responder").is_not_null()
    outside = pl.col("_opener").is_null() & pl.col("_responder").is_null()
    notes = [note for note in (_left_out(frame, wire, outside, inside), copies_sentence(reading.counts)) if note]
    own = frame.filter(~inside & ~outside)
    if own.height == 0:
        raise MayflyError(f"{told}: no connection of it is between a circuit of the tree and another host")
    flows = flows_of_connections(own.drop("_opener", "_responder"), near=list(owners), others=True)
    far = pl.when(pl.col("direction") == "up").then("src").otherwise("dst")
    account = account_of(reading.counts, captures, aside_of(reading.connections, flows))
    flows = flows.with_columns(far.replace_strict(owners, return_dtype=pl.String).alias(CIRCUIT)).drop("connection_id")
    if flows.height == 0:
        raise MayflyError(f"{told}: no TCP connection with payload and no UDP flow to replay")
    return Captured(flows, float(reading.counts["duration_s"]), [*cannot_answer([account]), *notes], account)


def _left_out(frame: pl.DataFrame, wire: pl.Expr, outside: pl.Expr, inside: pl.Expr) -> str | None:
    """What has no circuit, or passes none."""
    total = frame.select(wire.sum()).item()
    hosts = frame.filter(outside)
    said = []
    if hosts.height and total:
        named = (
            hosts.group_by("opener").agg(wire.sum().alias("bytes")).sort("bytes", "opener", descending=[True, False])
        )
        some = ", ".join(named["opener"].head(MOST_NAMED)) + (", ..." if named.height > MOST_NAMED else "")
        said.append(f"{hosts.select(wire.sum()).item() / total:.1%} of the bytes are of hosts in no circuit: {some}")
    between = frame.filter(inside)
    if between.height and total:
        said.append(f"{between.select(wire.sum()).item() / total:.1%} pass between circuits")
    return "; ".join(said) + "; they are left out" if said else None
