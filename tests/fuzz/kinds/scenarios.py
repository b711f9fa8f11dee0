"""Scenario files from the models that check them, options ``--set``, and runs repeated from their own settings."""

from itertools import pairwise
from typing import Any

from case import TO_TOML, Case
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pydantic import ValidationError
from values import ANYTHING, DISCIPLINES, as_toml, damaged, mostly, of_field, section

from mayfly.errors import MayflyError
from mayfly.scenario.network import HostGroup, Link, Network
from mayfly.scenario.scenario import READY, Probes, Scenario, field_names
from mayfly.scenario.transport import OwnTransport, Tcp
from mayfly.scenario.wlan import Wlan
from mayfly.text import quantity
from mayfly.workload.sources.registry import SOURCES
from mayfly.workload.sources.transfers import TransfersSection

PACKETS = 60_000
"""Of a run, about and at most: a run of more may last long, and rightly so."""

LEAST_PACKET_BYTES = 29
"""Of UDP, with its headers."""

READY_NAMES = sorted(path.stem for path in READY.glob("*.toml"))

_NESTED = ("network", "tcp", "transports", "workload", "probes")

TRANSPORTS = ("a", "b")
"""Names of transports that scenarios have, and that sources name."""


def _rates(document: Any) -> list[float]:
    """Every value in a document that may be a rate, bit/s."""
    if isinstance(document, dict):
        return [rate for value in document.values() for rate in _rates(value)]
    if isinstance(document, list):
        return [rate for value in document for rate in _rates(value)]
    try:
        return [quantity.rate_bps(document)]
    except MayflyError:
        return []


def _packets_bytes(document: Any) -> list[int]:
    """Every length of a packet in a document."""
    if isinstance(document, list):
        return [size for value in document for size in _packets_bytes(value)]
    if not isinstance(document, dict):
        return []
    own = [value for name, value in document.items() if name in ("mss", "packet") and isinstance(value, int)]
    return [*own, *(size for value in document.values() for size in _packets_bytes(value))]


def _short(document: dict[str, Any], duration_s: float) -> str:
    """A duration within which the document sends about so many packets at most."""
    fastest = max([10e6, *_rates(document)])
    shortest = max(LEAST_PACKET_BYTES, min([500, *_packets_bytes(document)]))
    return f"{min(duration_s, PACKETS / (fastest / 8 / shortest)):.9g}s"


def _without(document: Any, path: list[Any]) -> None:
    """Takes out what stands at the end of the path, or what holds it where that is no table."""
    for place, part in enumerate(path):
        if not isinstance(document, dict | list) or (isinstance(document, list) and not isinstance(part, int)):
            return
        known = part in document if isinstance(document, dict) else part < len(document)
        if not known:
            return
        if place == len(path) - 1 or not isinstance(document[part], dict | list):
            del document[part]
            return
        document = document[part]


def repaired(document: dict[str, Any]) -> dict[str, Any]:
    """The document without what its checks refuse, as far as a few attempts bring it."""
    for _ in range(12):
        try:
            Scenario.model_validate(document)
        except ValidationError as error:
            for found in error.errors(include_url=False):
                # What is wrong with a section as a whole begins with the name of the field.
                name = found["msg"].removeprefix("Value error, ").partition(" ")[0].strip(":")
                whole = found["type"] == "value_error" and isinstance(found["input"], dict)
                path = [*found["loc"], *(name.split(".") if whole else [])]
                path = path[:-1] if found["type"] == "missing" else path
                before = repr(document)
                _without(document, path)
                if repr(document) == before:
                    _without(document, list(found["loc"]) or ["network"])
        except RecursionError:
            break
        else:
            break
    return document


@st.composite
def _network(draw: st.DrawFn) -> dict[str, Any]:
    found = draw(section(Network, leave=("link", "hosts", "wlan", "topology", "bottlenecks")))
    shape = draw(st.sampled_from(["dumbbell"] * 5 + ["wlan"] * 2 + ["graph"] * 2 + ["parking-lot"]))
    if shape == "wlan":
        found = {name: found[name] for name in found if name.startswith(("access", "buffer", "reverse_buffer"))}
        found["wlan"] = draw(section(Wlan, leave=("stations",))) | {"stations": draw(st.integers(1, 12))}
    elif shape == "graph":
        found["topology"] = "graph"
        names = ["r1", "r2", "r3", "r4"][: draw(st.integers(2, 4))]
        pairs = list(pairwise(names))
        found["link"] = [draw(section(Link, most=3)) | {"from": one, "to": other} for one, other in pairs]
        found["hosts"] = [
            draw(section(HostGroup, most=2)) | {"at": at, "name": name, "count": draw(st.integers(1, 5))}
            for name, at in (("senders", names[0]), ("receivers", names[-1]), ("a", names[0]), ("b", names[-1]))
        ]
        if draw(st.integers(0, 9)) == 9:
            found["link"].append(draw(section(Link)))
            found["hosts"].append(draw(section(HostGroup)))
    elif shape == "parking-lot":
        found |= {"topology": "parking-lot", "bottlenecks": draw(st.integers(1, 4))}
    return found


FEW = {"sessions": 20, "pages": 5, "objects": 5, "flows": 200}
"""Of each, so many at most: millions are allowed, and take the time that millions take."""

LEAST_S = {"every": 0.01, "period_min": 0.001, "on": 0.001, "off": 0.001, "gap": 0.001}


def _few(source: dict[str, Any]) -> dict[str, Any]:
    """A section of a source without numbers that are allowed and large; those that are refused stay."""
    found = dict(source)
    for name, most in FEW.items():
        if isinstance(found.get(name), int | float) and most < found[name] <= 1_000_000:
            found[name] = type(found[name])(found[name] % most + 1)
    for name, least_s in LEAST_S.items():
        try:
            if 0 < quantity.seconds(found.get(name)) < least_s:
                found[name] = least_s
        except MayflyError:
            pass
    return found


@st.composite
def _workload(draw: st.DrawFn) -> dict[str, Any]:
    found = draw(section(TransfersSection, most=5))
    if "transport" in found:
        found["transport"] = draw(st.sampled_from(TRANSPORTS))
    if draw(st.integers(0, 2)):
        found.setdefault("load", draw(st.sampled_from(["100kbit", "1mbit", "8mbit", "20mbit"])))
    for name in draw(st.lists(st.sampled_from(sorted(SOURCES)), max_size=3, unique=True)):
        found[name] = [_few(draw(section(SOURCES[name].model))) for _ in range(draw(st.integers(1, 2)))]
        for one in found[name]:
            if "transport" in one:
                one["transport"] = draw(st.sampled_from(TRANSPORTS))
    return found


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A scenario as nested tables."""
    found = draw(section(Scenario, most=4, leave=(*_NESTED, "duration", "disciplines", "replications", "trace_limit")))
    for name, strategy in (
        ("network", _network()),
        ("workload", _workload()),
        ("tcp", section(Tcp)),
        ("transports", st.fixed_dictionaries({name: section(OwnTransport, most=3) for name in TRANSPORTS})),
        ("probes", section(Probes)),
    ):
        if draw(st.integers(0, 4)):
            found[name] = draw(mostly(strategy, ANYTHING, 300))
    if draw(st.integers(0, 5)) and isinstance(found.get("workload", {}), dict):
        # Something that sends from the start, whatever the duration.
        plain = {"cbr": {"rate": "1mbit", "packet": 200}, "permanent": {"flows": 2}, "batch": {"size": 20, "flows": 3}}
        name = draw(st.sampled_from(sorted(plain)))
        found["workload"] = found.get("workload", {}) | {name: [plain[name]]}
    duration_s = draw(st.sampled_from([1e-9, 1e-3, 0.1, 1.0, 1.0, 2.0, 5.0, 20.0]))
    found["duration"] = draw(mostly(st.just(_short(found, duration_s)), st.sampled_from(["0s", "-1s", 0, True]), 40))
    return repaired(found) if draw(st.integers(0, 9)) else found


FLOWS = b"start_s,size_bytes\n0,3000\n0.001,90000\n"
SIZES = b"size_packets,cdf\n1,0.5\n10,1\n"
GIVEN = {"given.csv": FLOWS, "sizes.csv": SIZES}
"""What a scenario may name."""


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A scenario file that is simulated or compared."""
    content = draw(damaged(as_toml(draw(documents())), one_in=20))
    files = {"scenario.toml": content, **GIVEN}
    command = draw(st.sampled_from(["simulate"] * 3 + ["compare"]))
    if command == "simulate":
        arguments = ["simulate", "scenario.toml", "--discipline", draw(DISCIPLINES)]
        for flag in ("--models", "--models-path", "--trace-drops"):
            arguments += [flag] if draw(st.integers(0, 5)) == 5 else []
        if draw(st.integers(0, 5)) == 5:
            arguments += ["--pcap", "out/run.pcap"]
    else:
        arguments = ["compare", "scenario.toml", "--disciplines", f"{draw(DISCIPLINES)},fifo"]
        if draw(st.integers(0, 2)) == 2:
            arguments += ["--replications", "2"]
    arguments += ["--out", "out/run", "--json", "--quiet"]
    if draw(st.integers(0, 9)) == 9:
        arguments += ["--flows", "given.csv"]
    return Case("scenarios", (tuple(arguments),), files)


def _setting(value: Any) -> str:
    """A value as it stands behind ``--set NAME=``."""
    if isinstance(value, str):
        return value.replace("\0", "")
    return as_toml({"x": value}).decode("utf-8", "replace").partition("=")[2].strip().replace("\0", "")


@st.composite
def settings(draw: st.DrawFn) -> Case:
    """A ready scenario with some fields set."""
    names = field_names()
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True))
    given = {name: draw(_of_name(name)) for name in chosen if name not in ("duration", "replications")}
    if draw(st.integers(0, 20)) == 20:
        given[draw(st.sampled_from(["network.bufer", "x", "", "workload.cbr.rate", "tcp", "network"]))] = draw(ANYTHING)
    duration = _short(given | {"link": "1gbit"}, 0.5)
    options = [word for name, value in given.items() for word in ("--set", f"{name}={_setting(value)}")]
    ready = draw(st.sampled_from(READY_NAMES))
    return Case(
        "settings",
        (
            (
                *("simulate", ready, "--discipline", draw(DISCIPLINES), "--duration", duration, *options),
                *("--out", "out/run", "--json", "--quiet"),
            ),
        ),
        dict(GIVEN),
    )


def _of_name(name: str) -> SearchStrategy[Any]:
    model: Any = Scenario
    field = None
    for part in name.split("."):
        field = next(f for at, f in model.model_fields.items() if part in (at, f.alias))
        found = field.annotation
        # An optional section stands in a union with nothing.
        inner = [one for one in getattr(found, "__args__", ()) if hasattr(one, "model_fields")]
        model = inner[0] if inner else found
    assert field is not None
    return mostly(of_field(field), ANYTHING, 10)


@st.composite
def reloads(draw: st.DrawFn) -> Case:
    """A scenario and its own settings, as the summary tells them, give the same run; so does one thread or several."""
    content = as_toml(draw(documents()))
    end = ("--discipline", draw(DISCIPLINES), "--json", "--quiet", "--out")
    return Case(
        "reloads",
        (
            ("simulate", "scenario.toml", *end, "out/first"),
            (TO_TOML, "out/first/summary.json", "scenario", "again.toml"),
            ("simulate", "again.toml", *end, "out/second"),
        ),
        {"scenario.toml": content, **GIVEN},
        same=(("first/flows.parquet", "second/flows.parquet"), ("first/samples.parquet", "second/samples.parquet")),
    )
