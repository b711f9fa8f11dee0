"""What the page offers: disciplines with their options, presets, attacks, figures, terms, and the commands to copy.

The lines are templates. The page fills in ``{rate}`` and the like, and nothing else has to be known there of how a
command is spelt. A template is only given where filling it in gives what the package itself would write.
"""

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mayfly import _native
from mayfly.discipline_registry import SHORTLIST, disciplines, where_text
from mayfly.errors import MayflyError
from mayfly.explore import PRESETS_FOLDER
from mayfly.scenario.attacks import ATTACKS, Attack
from mayfly.scenario.network import Network
from mayfly.scenario.scenario import READY, load_scenario

PRESETS = ("office", "home", "school", "isp", "attack")
"""Ready scenarios that the page offers, in this order."""

ATTACKED = ("attack",)
"""Those that somebody may join who bends his traffic to the scheduler."""

_WITHOUT = ("ranked",)
"""Disciplines that need what no workload of the page has: ranks of its flows."""

ROOT = Path(__file__).parents[3]
"""Of the checkout."""

TERMS = (
    "AQM",
    "Bottleneck",
    "Bufferbloat",
    "Capture",
    "Discipline",
    "Down, up",
    "Drop-tail",
    "ECN",
    "Fair queueing",
    "Flow",
    "Latency under load",
    "Offered load",
    "Percentile",
    "Quality of experience (QoE)",
    "Response time",
    "RTO",
    "RTT",
    "Slowdown",
    "Utilisation",
    "Workload",
)
"""Entries of docs/glossary.md that the page explains."""

COMMANDS = {
    "compare": "mayfly compare {scenario} --disciplines '{disciplines}' --set network.rate={rate} "
    "--set network.reverse_rate={reverse_rate} --set network.buffer={buffer} --set network.delay={delay}",
    "compare_attack": " --set 'workload.{source}=[{value}]'",
    "compare_file": "mayfly compare {file} --disciplines '{disciplines}'",
    "whatif": "mayfly whatif {capture} --rate {rate}/{reverse_rate} --buffer {buffer} --disciplines '{disciplines}'",
    "whatif_internal": " --internal {network}",
    "whatif_rtt": " --rtt {rtt}",
    "python_compare": """\
import mayfly
import polars as pl

changes = {
    "network.rate": {rate},
    "network.reverse_rate": {reverse_rate},
    "network.buffer": {buffer},
    "network.delay": {delay},
}
result = mayfly.compare(mayfly.load_scenario({scenario}, changes), {disciplines})
print(result.records.group_by("discipline").agg(pl.col("response_time_s").median()))
""",
    "python_whatif": """\
import mayfly

result = mayfly.whatif({capture}, {rates}, {buffer}, disciplines={disciplines})
print(result.summary["recommendation"]["sentence"])
""",
    "python_whatif_rtt": """\
import mayfly

result = mayfly.whatif({capture}, {rates}, {buffer}, rtt={rtt}, disciplines={disciplines})
print(result.summary["recommendation"]["sentence"])
""",
}
"""Lines that take a state of the page elsewhere; ``docs/tables.md`` says what goes into the braces."""


def catalogue() -> dict[str, Any]:
    """The catalogue as a document.

    Returns
    -------
    dict
        For JSON: see ``docs/tables.md``.

    Raises
    ------
    MayflyError
        This is no checkout.
    """
    return {
        "version": version("mayfly"),
        "disciplines": [_discipline(row) for row in disciplines() if row["id"] not in _WITHOUT],
        "presets": [_preset(name) for name in PRESETS],
        "attacks": [_attack(attack) for attack in ATTACKS if attack.page is not None],
        "measures": measures(),
        "glossary": glossary(),
        "commands": COMMANDS,
    }


def measures() -> list[dict[str, Any]]:
    """The figures of what users feel that the page has a row of, in the order of the rows.

    Returns
    -------
    list of dict
        Of each where it stands in the figures of an outcome (``part``, ``field``, ``interval``, ``whole``), its
        ``unit``, in which direction it gets ``better``, and its words.
    """
    rows = [row for row in json.loads(_native.measures()) if row["page"] is not None]
    read = ("part", "field", "interval", "whole", "unit", "better")
    words = ("id", "title", "about", "phrase", "absent")
    return [
        {name: row["page"][name] for name in words} | {name: row[name] for name in read}
        for row in sorted(rows, key=lambda row: row["page"]["place"])
    ]


def _discipline(row: Any) -> dict[str, Any]:
    return {
        "id": row["id"],
        "title": _title(row["id"]),
        "summary": row["about"],
        "family": row["family"],
        "runs": where_text(row),
        "page": f"disciplines/{row['id']}",
        "options": [
            {
                "name": param["name"],
                "default": ":".join(f"{value:.15g}" for value in param["default"])
                if isinstance(param["default"], list)
                else param["default"],
                "meaning": param["about"],
                "unit": param["unit"],
                **{bound: param[bound] for bound in ("min", "max", "choices", "most") if bound in param},
            }
            for param in row["params"]
        ],
        "shortlist": row["id"] in SHORTLIST,
    }


def _attack(attack: Attack) -> dict[str, str]:
    """An attack: which field of a request is its strength, and its source as lines whose strength the page fills in."""
    given = attack.page or {}, attack.strength.template
    return {
        "id": attack.id,
        "title": attack.title,
        "summary": attack.summary,
        "page": "how-to/gaming",
        "of": attack.strength.asked,
        "source": attack.source,
        "section": attack.section(*given),
        "value": f"{{{', '.join(attack.lines(*given))}}}",
    }


def _preset(name: str) -> dict[str, Any]:
    scenario = load_scenario(name)
    network = scenario.network
    return {
        "name": name,
        "title": scenario.title,
        "file": f"{PRESETS_FOLDER}/{name}.json",
        "scenario": scenario_template(name),
        "fixed_rtt_s": fixed_rtt_s(network),
        "attacks": name in ATTACKED,
    }


def fixed_rtt_s(network: Network) -> float:
    """The part of the round-trip time that is not the delay of the bottleneck, both ways, s.

    Examples
    --------
    >>> fixed_rtt_s(load_scenario("office").network)
    0.004
    """
    return 2 * (network.access_delay + network.exit_delay)


_FIELDS = ("rate", "reverse_rate", "delay", "buffer")


def scenario_template(name: str) -> str:
    """The text of a ready scenario with braces in the place of what the page moves.

    Parameters
    ----------
    name : str
        Of a preset, whose section ``[network]`` has each of these fields on a line of its own.

    Returns
    -------
    str
        With ``{rate}``, ``{reverse_rate}``, ``{delay}`` and ``{buffer}``.

    Raises
    ------
    MayflyError
        A field is missing.

    Examples
    --------
    >>> 'rate = "{rate}"' in scenario_template("office")
    True
    """
    text = (READY / f"{name}.toml").read_text(encoding="utf-8")
    for field in _FIELDS:
        text, count = re.subn(rf"(?m)^{field} = .*$", f'{field} = "{{{field}}}"', text, count=1)
        if count != 1:
            raise MayflyError(f"{name}: network.{field}: must be given: the page moves it")
    return text


def _title(id: str) -> str:
    """The title of the page of a discipline, the head of its Rust file."""
    return _read(f"crates/qdisc/src/disciplines/{id}.rs").partition("\n")[0].removeprefix("//! # ").strip()


def glossary() -> dict[str, str]:
    """What each of :data:`TERMS` means, in a line.

    Returns
    -------
    dict of str

    Raises
    ------
    MayflyError
        docs/glossary.md is not there, or has no such entry.
    """
    entries = dict(re.findall(r"(?m)^(.+)\n: (.+(?:\n(?!\n).+)*)", _read("docs/glossary.md")))
    if missing := [term for term in TERMS if term not in entries]:
        raise MayflyError(f"docs/glossary.md: must have an entry {missing[0]}: the page explains it")
    return {term: _plain(entries[term]) for term in TERMS}


def _plain(markdown: str) -> str:
    """A sentence without the marks of Markdown; links to pages are left out, with the brackets around them."""
    without = re.sub(r"\s*\(\[\]\([^)]*\)\)|\s*\[\]\([^)]*\)", "", markdown)
    without = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", without)
    return " ".join(re.sub(r"[`*$]", "", without).split())


def _read(path: str) -> str:
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except OSError:
        raise MayflyError(f"{path}: not found: the documents of the page are made in a checkout") from None
