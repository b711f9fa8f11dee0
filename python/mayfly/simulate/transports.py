"""Which transport each flow of a run has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly.arrays import Integers
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario
from mayfly.scenario.transport import OwnTransport, Tcp, refusal
from mayfly.text.readable import printable

if TYPE_CHECKING:
    import polars as pl


def native(tcp: Tcp) -> dict[str, Any]:
    """Settings of the transport as the native module takes them.

    Parameters
    ----------
    tcp : Tcp
        Section of the scenario.

    Returns
    -------
    dict
        Times in ns, with names that say so; the rest as in the section. What only Python reads is left out.
    """
    given = {name: getattr(tcp, name) for name in OwnTransport.model_fields if name != "preset"}
    for name in ("initial_rto", "min_rto", "max_rto", "delayed_ack", "tick", "gro"):
        given[f"{name}_ns"] = round(given.pop(name) * 1e9)
    # No clock of the simulator is finer.
    return given | {"tick_ns": max(given["tick_ns"], 1)}


@dataclass(frozen=True)
class Dealt:
    """The transports of a flow list.

    Parameters
    ----------
    own : list of pairs
        What messages call each transport that some flow has in place of ``[tcp]``, and all its settings.
    numbers : ndarray, shape (n_flows,), uint16
        Of each flow: 0 for ``[tcp]``, else 1 + place in ``own``.
    """

    own: list[tuple[str, Tcp]]
    numbers: Integers

    @property
    def native(self) -> list[dict[str, Any]]:
        """The transports as the native module takes them."""
        return [{"name": name, "tcp": native(tcp)} for name, tcp in self.own]


def dealt(scenario: Scenario, flows: pl.DataFrame) -> Dealt:
    """The transports of a flow list: of its column ``transport``, else of ``tcp.congestion_of``, else ``[tcp]``.

    Parameters
    ----------
    scenario : Scenario
        With the sections of the transports.
    flows : polars.DataFrame, shape (n_flows, ...)
        A normalised flow list.

    Returns
    -------
    Dealt

    Raises
    ------
    MayflyError
        A flow names a transport that the scenario has not, or no flow has a group of ``tcp.congestion_of``.
    """
    from mayfly.simulate.columns import in_groups

    numbers = np.zeros(flows.height, dtype=np.uint16)
    own: list[tuple[str, Tcp]] = []
    for group, rule in scenario.tcp.congestion_of.items():
        own.append((f"tcp.congestion_of.{group}", scenario.tcp.model_copy(update={"congestion": rule})))
        numbers[in_groups(flows, [group], "tcp.congestion_of")] = len(own)
    if "transport" in flows.columns:
        named = flows["transport"]
        for name in sorted(named.drop_nulls().unique()):
            if bound := refusal(name, scenario.transports):
                raise MayflyError(f"transport = {printable(name)}: {bound}")
            own.append((f"transports.{name}", scenario.transport(name)))
            numbers[(named == name).fill_null(False).to_numpy()] = len(own)
    return Dealt(own, numbers)
