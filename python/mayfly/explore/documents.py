"""Workloads of the page as documents: what a run of a ready scenario gives the native module, as text.

Principle: the engine of the page (``crates/explore``) reads no scenario and draws nothing. A document holds the
settings and the flow list that :func:`mayfly.simulate.run.run_one` gives the simulator for the same scenario under
``fifo``, and the engine changes what the sliders change: rate, buffer, delay, discipline. The lists of the presets
depend on none of these. ``docs/tables.md`` says what is in a document; the same tree writes the same bytes.

``python -m mayfly.explore.documents OUT`` writes those of all presets, the frame of captures and the catalogue.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from mayfly import _native
from mayfly.discipline_registry import Discipline
from mayfly.errors import MayflyError
from mayfly.explore import CATALOGUE, PRESETS_FOLDER, TEMPLATE
from mayfly.explore.catalogue import PRESETS, catalogue
from mayfly.scenario.attacks import ATTACKS, Attack
from mayfly.scenario.scenario import READY, Scenario, load_scenario
from mayfly.simulate import columns, transports
from mayfly.simulate.run import native_run, workload
from mayfly.text.folder import filled
from mayfly.workload.lists import flow_list
from mayfly.workload.sources.batch import BatchSection
from mayfly.workload.sources.cbr import CbrSection
from mayfly.workload.sources.common import bytes_of
from mayfly.workload.sources.registry import SOURCES
from mayfly.workload.stages import NONE

FRAME = "whatif"
"""Scenario around the flows of a capture."""

_ABSENT = {"rtt_ns": int(columns.NEVER), "stage": NONE, "after": NONE}
"""By column, the number that stands for nothing, which a document writes as null."""


def preset(name: str) -> dict[str, Any]:
    """The document of a preset.

    Parameters
    ----------
    name : str
        Of a ready scenario with one bottleneck link.

    Returns
    -------
    dict
        For JSON: see ``docs/tables.md``.

    Raises
    ------
    MayflyError
        No such scenario, or one whose network is no single link of one rate.

    Examples
    --------
    >>> preset("attack")["probes"]
    ['ping', 'call_up', 'call_down']
    """
    scenario = load_scenario(name)
    return _document(scenario, workload(scenario), "preset")


def template() -> dict[str, Any]:
    """The document of the scenario around captures: no flows, no probes, today's hosts.

    Returns
    -------
    dict
        As :func:`preset`.
    """
    scenario = load_scenario(FRAME)
    # A list is of one flow at least.
    none = flow_list(pl.DataFrame({"start_s": [0.0], "size_bytes": [1]}), source=FRAME).head(0)
    document = _document(scenario, none, "template")
    # The first one is that of QUIC (crates/replay/src/list.rs).
    own = {"name": "transports.quic", "tcp": transports.native(scenario.transport("quic"))}
    document["settings"]["transports"] = [own]
    return document


def _document(scenario: Scenario, flows: pl.DataFrame, kind: str) -> dict[str, Any]:
    _refuse_other_networks(scenario)
    given = native_run(scenario, Discipline("fifo"), flows)
    assert isinstance(given.columns, dict)  # of no shared list
    return {
        "name": scenario.name,
        "title": scenario.title,
        "kind": kind,
        "scenario": scenario.name,
        "scenario_toml": (READY / f"{scenario.name}.toml").read_text(encoding="utf-8"),
        "reverse_discipline": scenario.network.reverse_discipline,
        "settings": given.settings,
        "probes": list(given.probing.names),
        "ping_interval_s": scenario.probes.interval,
        "flows": _listed(given.columns),
        "groups": columns.group_classes(given.flows)[0],
        "alone": None if given.alone is None else _listed(given.alone),
        "attacks": [_offered(attack, scenario.tcp.mss) for attack in ATTACKS if attack.page is not None],
    }


def _offered(attack: Attack, mss: int) -> dict[str, Any]:
    """An attack as the engine draws it: without its strength, which a request has, and without the user that it is."""
    source = SOURCES[attack.source]({**attack.fields, **(attack.page or {})})
    known = {attack.strength.field, "users", "group"}
    drawn: dict[str, Any] = {}
    if isinstance(source, CbrSection):
        known |= {"packet", "renew", "renew_hosts"}
        drawn |= {"packet": source.packet, "renew": source.renew, "renew_hosts": source.renew_hosts}
    elif isinstance(source, BatchSection):
        known |= {"size", "start", "every"}
        every_ns = None if source.every is None else round(1e9 * source.every)
        drawn |= {"size": bytes_of(source.size, mss), "start_ns": round(1e9 * source.start), "every_ns": every_ns}
    if others := source.model_fields_set - known:
        field = f"{attack.source}.{min(others)}"
        raise MayflyError(f"attack {attack.id}: {field}: must be left out: the page cannot draw it")
    strength = attack.strength
    return {"id": attack.id, "least": strength.least, "most": strength.most, "source": {attack.source: drawn}}


def _refuse_other_networks(scenario: Scenario) -> None:
    """The sliders move one link of one rate."""
    network = scenario.network
    others = {"wlan": network.wlan, "tree": network.tree, "shaper": network.shaper, "link_trace": network.link_trace}
    found = [f"network.{name}" for name, value in others.items() if value is not None]
    if network.topology != "dumbbell":
        found.append(f"network.topology = '{network.topology}'")
    if found:
        raise MayflyError(f"{scenario.name}: {found[0]}: must be left out: the page has one link of one rate")


def _listed(given: dict[str, Any]) -> dict[str, Any]:
    """Columns as lists of whole numbers, those of scripts and bursts too; what is absent is None."""
    found: dict[str, Any] = {}
    # The numbers of no hosts are of another type.
    ends = {end: np.asarray(given[end], np.uint32) for end in ("src", "dst")}
    data = json.loads(_native.flow_data(given | ends))
    for name, values in given.items():
        if name in data:
            found[name] = data[name]
            continue
        whole = np.asarray(values).astype(object).tolist()
        absent = _ABSENT.get(name)
        found[name] = whole if absent is None else [None if value == absent else value for value in whole]
    return found


def text(document: dict[str, Any]) -> str:
    """A document as JSON, in one line.

    Parameters
    ----------
    document : dict
        Without NaN and infinity.

    Returns
    -------
    str
        The keys have the order they were given in.
    """
    return json.dumps(document, allow_nan=False, separators=(",", ":"), ensure_ascii=False) + "\n"


def write(folder: str | os.PathLike[str]) -> list[Path]:
    """Writes the catalogue, the frame of captures and the presets: all of them, or nothing.

    Parameters
    ----------
    folder : path
        Made when absent.

    Returns
    -------
    list of Path
        Of the files.

    Raises
    ------
    MayflyError
        The folder cannot be written, or this is no checkout, whose pages the catalogue quotes.
    """
    folder = Path(folder)
    top = {CATALOGUE: text(catalogue()), TEMPLATE: text(template())}
    presets = {f"{name}.json": text(preset(name)) for name in PRESETS}
    for place, texts in ((folder, top), (folder / PRESETS_FOLDER, presets)):
        with filled(place, texts) as partial:
            for name, written in texts.items():
                (partial / name).write_text(written, encoding="utf-8")
    return [*(folder / name for name in top), *(folder / PRESETS_FOLDER / name for name in presets)]


def main(arguments: list[str]) -> int:
    """``python -m mayfly.explore.documents OUT``."""
    if len(arguments) != 1:
        print("python -m mayfly.explore.documents OUT: must have one folder", file=sys.stderr)
        return 2
    try:
        for path in write(arguments[0]):
            print(path)
    except MayflyError as error:
        print(f"mayfly.explore.documents: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
