"""The section ``[network.tree]``: a shaper in place of the bottleneck link, with a queue for each circuit."""

from collections.abc import Mapping

from pydantic import Field, model_validator

from mayfly.fields import Buffer, Bytes, Compared, Name, Rate, Section, Whole

MOST_NODES_DEEP = 7
"""Nodes in each other at most: with the circuits, the eight levels of Linux (``TC_HTB_MAXDEPTH``)."""


class _Class(Section):
    """What nodes and circuits have in common; what is absent of the other direction is as in the first."""

    name: Name = Field(description="unique in the tree")
    parent: Name | None = Field(None, description="node it is in, listed before it; at the top when absent")
    ceil: Rate = Field(description="most it may have, towards its hosts")
    reverse_ceil: Rate | None = Field(None, description="the same from its hosts; as ceil when absent")
    rate: Rate | None = Field(
        None, description="what it has for sure, whatever the others do; as ceil when absent, at most that"
    )
    reverse_rate: Rate | None = Field(
        None, description="the same from its hosts; as rate when absent, or as reverse_ceil where that is less"
    )
    burst: Bytes | None = Field(
        None, ge=1, description="sent at once after a pause, by rate and by ceil; what tc chooses when absent"
    )
    quantum: Bytes | None = Field(
        None, ge=1, description="sent in a turn where several borrow; a tenth of a second of rate when absent"
    )

    @model_validator(mode="after")
    def _is_a_class(self) -> "_Class":
        for rate, ceil, of in (
            (self.rate, self.ceil, ""),
            (self.reverse_rate, self.reverse_ceil or self.ceil, "reverse_"),
        ):
            if rate is not None and rate > ceil:
                raise ValueError(f"{of}rate = {rate} of {self.name}: must be at most {of}ceil, {ceil} bit/s")
        return self

    def shares(self, reverse: bool) -> tuple[int, int]:
        """Rate and ceiling in one direction, bit/s."""
        ceil = (self.reverse_ceil or self.ceil) if reverse else self.ceil
        rate = self.ceil if self.rate is None else self.rate
        if reverse:
            rate = min(rate if self.reverse_rate is None else self.reverse_rate, ceil)
            rate = ceil if self.rate is None and self.reverse_rate is None else rate
        return rate, ceil


class Node(_Class):
    """A site, an access point, or whatever else circuits share."""


class Circuit(_Class):
    """A subscriber: hosts behind a queue in each direction."""

    prio: Whole = Field(0, ge=0, le=7, description="where several borrow, the lower goes first")
    hosts: tuple[Name, ...] = Field((), description="who is behind it, as in a flow list; its own name when absent")
    buffer: Buffer | None = Field(None, description="limit of its queue; as buffer of the network when absent")
    reverse_buffer: Buffer | None = Field(None, description="the same from its hosts")
    discipline: Compared = Field("compare", description="of its queue, or `compare`: the one under comparison")
    reverse_discipline: Compared | None = Field(
        None, description="from its hosts; as reverse_discipline of the network when absent"
    )

    @property
    def members(self) -> tuple[str, ...]:
        """Its hosts."""
        return self.hosts or (self.name,)


class Tree(Section):
    """Nodes in each other, and circuits in them (HTB of Linux)."""

    node: tuple[Node, ...] = ()
    circuit: tuple[Circuit, ...] = Field((), min_length=1)

    @model_validator(mode="after")
    def _is_a_tree(self) -> "Tree":
        depth: dict[str, int] = {}
        for node in self.node:
            if node.name in depth:
                raise ValueError(f"node {node.name} is there twice")
            if node.parent is not None and node.parent not in depth:
                raise ValueError(f"parent = '{node.parent}' of {node.name}: must be a node listed before it")
            depth[node.name] = 1 + (0 if node.parent is None else depth[node.parent])
            if depth[node.name] > MOST_NODES_DEEP:
                raise ValueError(f"node {node.name} is in {depth[node.name] - 1} others: must be in at most 6")
        names, hosts = set(depth), dict[str, str]()
        for circuit in self.circuit:
            if circuit.name in names:
                raise ValueError(f"circuit {circuit.name} is there twice, or a node has its name")
            names.add(circuit.name)
            if circuit.parent is not None and circuit.parent not in depth:
                raise ValueError(f"parent = '{circuit.parent}' of {circuit.name}: must be a node of the tree")
            for host in circuit.members:
                if host in hosts:
                    raise ValueError(f"host {host} is in {hosts[host]} and in {circuit.name}: must be in one circuit")
                hosts[host] = circuit.name
        return self

    def circuit_of(self) -> Mapping[str, str]:
        """Circuit of each host."""
        return {host: circuit.name for circuit in self.circuit for host in circuit.members}
