"""Scenario files: TOML, checked field by field, with overrides by dotted name."""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, create_model, model_validator

from mayfly import discipline_registry
from mayfly.errors import MayflyError, given
from mayfly.fields import Delay, Later, Name, Seconds, Section, Whole, as_written, section_of
from mayfly.scenario.network import Network
from mayfly.scenario.presets import PRESETS
from mayfly.scenario.transport import OwnTransport, Tcp, merged, refusal
from mayfly.text import quantity
from mayfly.text.files import bounded_text
from mayfly.text.nearest import did_you_mean, hint
from mayfly.workload.sources.registry import SINGLE, SOURCES
from mayfly.workload.sources.transfers import TransfersSection

READY = Path(__file__).parent.parent / "scenarios"
"""Folder of the ready scenarios."""

MOST_SAMPLES = 10_000_000
"""Sampling instants of a run."""


def _as_list(value: object) -> object:
    """`fifo,efd` as `["fifo", "efd"]`."""
    return discipline_registry.split(value) if isinstance(value, str) else value


def _as_names(value: object) -> object:
    """One name, or a flow_id written as a number, as a list of text."""
    names = value if isinstance(value, list | tuple) else [value]
    return [str(name) if type(name) is int and name >= 0 else name for name in names]


def _as_array(value: object) -> object:
    """A single table as an array of one."""
    return [value] if isinstance(value, dict) else value


def _of(section: Later) -> Any:
    """The type of any number of sections, made at run time: no type for a checker, hence Any."""
    return tuple.__class_getitem__((section.field, ...))


_SOURCES: dict[str, Any] = {
    name: (_of(source) if name not in SINGLE else Annotated[_of(source), BeforeValidator(_as_array)], ())
    for name, source in SOURCES.items()
}

if TYPE_CHECKING:

    class Workload(TransfersSection):
        """The section ``[workload]``, with a tuple of sections for every source."""

        def __getattr__(self, name: str) -> tuple[Any, ...]: ...

else:
    Workload = create_model(
        "Workload",
        __base__=TransfersSection,
        __module__=__name__,
        __doc__=TransfersSection.__doc__,
        **_SOURCES,
    )


def _named_transports(workload: Workload) -> Iterator[tuple[str, str]]:
    """Fields of the workload that name a transport, and what they name."""
    sections = [("workload", workload), *(("workload.part", part) for part in workload.part)]
    sections += [(f"workload.{kind}", source) for kind in SOURCES for source in getattr(workload, kind)]
    for name, section in sections:
        transport = getattr(section, "transport", None)
        if transport is not None:
            yield f"{name}.transport", transport


class Probes(Section):
    """Probes of one bottleneck link next to the workload: none counts in transfers, drops, UDP or queueing delays."""

    ping: bool = Field(
        False, description="packets of 64 bytes through both queues and back, on average one an interval"
    )
    call: bool = Field(False, description="a telephone call: 50 packets/s of 200 bytes each way (G.711, 20 ms)")
    interval: Seconds = Field(
        as_written("100ms"), ge=1e-3, le=3600, description="of the ping: one packet at random in each"
    )
    until: Seconds | None = Field(None, description="no probe is sent from then on; end of the run when absent")
    rtt: Delay | None = Field(
        None, description="round-trip time of their path without queueing; that of the network when absent"
    )

    @property
    def any(self) -> bool:
        """Whether there is a probe."""
        return self.ping or self.call


class Scenario(Section):
    """Network, transport and workload of a run, and what to compare on it."""

    name: str = Field("unnamed", description="in summary and report; the name of the file when absent")
    title: str = Field("", description="heading of the report")
    duration: Seconds = Field(as_written("1000s"), description="end of the run")
    warm_up: Seconds = Field(
        as_written("0s"),
        description="counters, queue averages and shares of groups are taken from then on; flow records are not cut",
    )
    stop_when_idle: bool = Field(False, description="end the run with its last flow")
    seed: Whole = Field(1, ge=0, le=2**63 - 1, description="of all random streams")
    clock_phase: Seconds | None = Field(
        None, description="age at time 0 of the current tick of every host, as tcp.tick has it; drawn when absent"
    )
    replications: Whole = Field(1, ge=1, le=100_000, description="runs with seeds seed, seed + 1, ...")
    disciplines: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = ("shortlist",)
    sample_interval: Seconds | None = Field(
        None, description="time between samples; a thousandth of the duration when absent, 0 for none"
    )
    nonresponsive: Annotated[tuple[Name, ...], BeforeValidator(_as_names)] = Field(
        (), description="groups of TCP flows that samples count with those of UDP as not responding to drops"
    )
    mark_of: dict[str, Annotated[int, Field(strict=True, ge=0, le=2**32 - 1)]] = Field(
        {}, description="mark (fwmark) that the packets of a group carry, by its name: a discipline may go by it"
    )
    trace: Annotated[tuple[Name, ...], BeforeValidator(_as_names)] = Field(
        (), description="flows whose packets are traced: flow_id, or name of a group"
    )
    trace_limit: Whole = Field(
        1_000_000, ge=1, le=100_000_000, description="packets traced in a run at most, and as many sub-flows"
    )
    subflows: bool = Field(False, description="keep a table of the sub-flows in the forward queue")
    network: Network = Field(default_factory=Network)
    tcp: Tcp = Field(default_factory=Tcp)
    transports: dict[Name, OwnTransport] = Field(
        {},
        description="transports that flows may name in place of `[tcp]`, each a section `[transports.NAME]`, above "
        "the preset of its name if there is one",
    )
    workload: Workload = Field(default_factory=Workload)
    probes: Probes = Field(default_factory=Probes)

    @model_validator(mode="after")
    def _holds_together(self) -> "Scenario":
        if self.duration < 1e-9:
            raise ValueError(f"duration = {self.duration}: must be at least 1ns")
        if not self.warm_up < self.duration:
            raise ValueError(f"warm_up = {self.warm_up}: must be below the duration, {self.duration} s")
        own = {f"transports.{name}": self.transport(name) for name in self.transports}
        for at, tcp in {"tcp": self.tcp, **own}.items():
            if tcp.max_rto < tcp.min_rto:
                raise ValueError(f"{at}.max_rto = {tcp.max_rto}: must be at least {at}.min_rto, {tcp.min_rto} s")
        for name, transport in _named_transports(self.workload):
            if bound := refusal(transport, self.transports):
                raise ValueError(f"{name} = {quantity.shown(transport)}: {bound}")
        for source in self.workload.http:
            own_tcp = self.tcp if source.transport is None else self.transport(source.transport)
            if source.version == "3" and own_tcp.recovery != "quic":
                field = "tcp" if source.transport is None else f"transports.{source.transport}"
                raise ValueError(f"workload.http.version = '3': must have {field}.recovery = quic, as preset quic has")
        if self.sample_interval and self.duration / self.sample_interval > MOST_SAMPLES:
            least = self.duration / MOST_SAMPLES
            raise ValueError(f"sample_interval = {self.sample_interval}: must be 0, or at least {least:.3g} s")
        if self.network.wlan is not None and self.workload.receivers != Workload.model_fields["receivers"].default:
            raise ValueError("workload.receivers with [network.wlan]: must be left out: the stations are the receivers")
        if self.probes.any and (self.network.wlan is not None or self.network.topology != "dumbbell"):
            raise ValueError("probes: must be off: they take one bottleneck link, which a dumbbell has")
        for label in ("buffer", "reverse_buffer"):
            limit = getattr(self.network, label)
            self._refuse_no_place(f"network.{label}", limit)
        for link in self.network.link:
            for label in ("buffer", "reverse_buffer"):
                self._refuse_no_place(f"network.link.{label}", getattr(link, label))
        return self

    def transport(self, name: str) -> Tcp:
        """All settings of the section ``[transports.NAME]``, above those of the preset of this name if there is one."""
        own = self.transports[name].model_dump(exclude_unset=True) if name in self.transports else {}
        return merged(self.tcp, OwnTransport.model_validate({"preset": name} | own if name in PRESETS else own))

    @property
    def tick_s(self) -> float:
        """Coarsest clock of any transport, s: the seed draws the phases of those that are coarser than 1 ns."""
        return max(self.tcp.tick, *(self.transport(name).tick for name in self.transports), 0.0)

    def _refuse_no_place(self, name: str, limit: tuple[int, str] | None) -> None:
        """Refuses a buffer in which nothing may wait beside the packet in transmission."""
        if limit is None or not self.network.buffer_counts_transmission:
            return
        size, unit = limit
        least = 2 if unit == "packets" else self.tcp.mss + self.tcp.headers_bytes + 1
        if size < least:
            raise ValueError(
                f"{name} = {size}: must be at least {least} {unit} when it counts the packet in transmission"
            )

    def override(self, **fields: Any) -> "Scenario":
        """A copy with other values, checked again.

        Parameters
        ----------
        **fields
            Top-level fields.

        Returns
        -------
        Scenario
            The copy.

        Raises
        ------
        MayflyError
            A value is refused.
        """
        return scenario_of({**self.model_dump(exclude_unset=True), **fields}, self.name)


def scenario_of(document: dict[str, Any], source: str) -> Scenario:
    """Checks a scenario given as nested dictionaries.

    Parameters
    ----------
    document : dict
        As read from TOML.
    source : str
        What error messages call it.

    Returns
    -------
    Scenario
        Complete, defaults filled in.

    Raises
    ------
    MayflyError
        The first unknown field or refused value.

    Examples
    --------
    >>> scenario_of({"network": {"rate": "5mbit"}}, "example").network.rate
    5000000
    """
    try:
        return Scenario.model_validate(document)
    except ValidationError as error:
        # A misspelt name is why another is missing: it comes first.
        first = min(error.errors(include_url=False), key=lambda found: found["type"] != "extra_forbidden")
    except RecursionError:
        raise MayflyError(f"{source}: nested too deeply") from None
    path = [str(part) for part in first["loc"]]
    if first["type"] == "extra_forbidden":
        raise MayflyError(f"{source}: {_unknown(path)}") from None
    reason = first["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    reason = reason.replace("Input should be", "must be")
    reason = reason[:1].lower() + reason[1:]
    # What is wrong with a section as a whole says itself which field it is.
    fields = field_names(inside_arrays=True)
    name = ".".join(part for part in path if not part.isdecimal())
    whole = name not in fields or any(field.startswith(f"{name}.") for field in fields)
    section = first["type"] == "value_error" and whole
    if first["type"] == "missing" or (path and section):
        where = f"{'.'.join(path)}: "
    else:
        where = f"{'.'.join(path)} = {quantity.shown(first['input'])}: " if path else ""
    raise MayflyError(f"{source}: {where}{reason}") from None


def _unknown(path: list[str]) -> str:
    """Message for an unknown field, with the nearest known name."""
    # Rows of an array of tables count from 0: workload.cbr.0.rate is the field workload.cbr.rate.
    known = [*field_names(), *field_names(inside_arrays=True)]
    name = ".".join(part for part in path if not part.isdecimal())
    same = [field for field in known if field.rpartition(".")[2] == path[-1]]
    near = f"; did you mean {same[0]}?" if same else hint(name, known, cutoff=0.4)
    return f"unknown field {quantity.shown('.'.join(path))[1:-1]}{near}"


def field_names(model: type[BaseModel] | None = None, prefix: str = "", inside_arrays: bool = False) -> list[str]:
    """Dotted names of every scenario field.

    Parameters
    ----------
    model : type, optional
        Section to start from; the whole scenario when not given.
    prefix : str
        Dotted name of that section, with a final dot.
    inside_arrays : bool
        Name the fields of the tables in arrays, such as ``workload.cbr.rate``, instead of the array.

    Returns
    -------
    list of str
        In the order of declaration.

    Examples
    --------
    >>> "network.buffer" in field_names(), "workload.cbr.rate" in field_names(inside_arrays=True)
    (True, True)
    """
    names = []
    for name, field in (model or Scenario).model_fields.items():
        name = field.alias or name
        element = next(iter(get_args(field.annotation)), None) if inside_arrays else None
        for kind in (field.annotation, element):
            if (section := section_of(kind)) is not None:
                names += field_names(section, f"{prefix}{name}.", inside_arrays)
                # A section that may be absent is a field as a whole too.
                names += [prefix + name] * (type(None) in get_args(field.annotation))
                break
        else:
            names.append(prefix + name)
    return names


def ready_names() -> list[str]:
    """Names of the ready scenarios.

    Examples
    --------
    >>> ready_names()[-1]
    'zhao-multihop'
    """
    return sorted(found.stem for found in READY.glob("*.toml"))


def load_scenario(source: str | os.PathLike[str] = "wired", overrides: dict[str, Any] | None = None) -> Scenario:
    """Reads a scenario file, or one of the ready scenarios by name.

    Parameters
    ----------
    source : str or path
        A TOML file, or a name such as ``wired`` or ``wired-ns2``.
    overrides : dict, optional
        Values by dotted name: ``{"network.buffer": 20, "tcp.min_rto": "1s"}``.

    Returns
    -------
    Scenario
        Checked, defaults filled in.

    Raises
    ------
    MayflyError
        No such file or name, bad TOML, unknown field or refused value.

    Examples
    --------
    >>> load_scenario("wired", {"network.buffer": 50}).network.buffer
    (50, 'packets')
    """
    path = Path(source)
    try:
        if not path.is_file() and path.parent == Path() and (READY / f"{path.stem}.toml").is_file():
            path = READY / f"{path.stem}.toml"
        document = tomllib.loads(bounded_text(path))
    except FileNotFoundError:
        ready = ready_names()
        known = did_you_mean(path.name, ready) or f"ready scenarios are {', '.join(ready)}"
        raise MayflyError(f"{source}: no such file; {known}") from None
    except RecursionError:
        raise MayflyError(f"{source}: not a scenario file: nested too deeply") from None
    except (OSError, ValueError) as error:
        # Bytes that are no text, text that is no TOML, numbers of thousands of digits, names no file can have.
        reason = (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
        raise MayflyError(f"{source}: not a scenario file: {reason}") from None
    document.setdefault("name", path.stem)
    _beside(document, path.parent)
    for name, value in (overrides or {}).items():
        _place(document, name, value)
    return scenario_of(document, str(source))


def _beside(document: dict[str, Any], folder: Path) -> None:
    """Takes the traces that a scenario file names as beside it."""
    network = document.get("network")
    links = network.get("link", ()) if isinstance(network, dict) else ()
    for section in (network, *(links if isinstance(links, list) else (links,))):
        for name in ("link_trace", "reverse_link_trace"):
            if isinstance(section, dict) and isinstance(section.get(name), str) and section[name]:
                section[name] = str(folder / section[name])


def _section(document: Any, names: list[str]) -> Any:
    for name in names:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def _may_be_absent(name: str) -> bool:
    """Whether the field lies in a section that is a field as a whole, such as workload.sizes."""
    known = field_names(inside_arrays=True)
    return name in known and name.rpartition(".")[0] in known


def _in_named_section(name: str) -> bool:
    """Whether the field lies in a table whose keys are names, such as transports.NAME.congestion or mark_of.GROUP."""
    section, _, rest = name.partition(".")
    field = Scenario.model_fields.get(section)
    if field is None or get_origin(field.annotation) is not dict:
        return False
    own, dot, last = rest.partition(".")
    element = get_args(field.annotation)[1]
    model = section_of(element)
    return bool(own) and (not dot if model is None else last in field_names(model))


def _in_a_section_given(document: dict[str, Any], name: str) -> bool:
    """Whether the field lies in a table of an array that is the only one of its kind, or in one that may be absent."""
    sections = name.split(".")[:-1]
    # A table written without brackets, such as [workload.web], is the only one of its kind.
    single = _section(document, sections) if name in field_names(inside_arrays=True) else None
    absent = single is None and isinstance(_section(document, sections[:-1]), dict) and _may_be_absent(name)
    return isinstance(single, dict) or absent


def _place(document: dict[str, Any], name: str, value: Any) -> None:
    if name not in field_names() and not _in_a_section_given(document, name) and not _in_named_section(name):
        raise MayflyError(f"{given('--set', 'overrides:')} {name}: {_unknown(name.split('.'))}")
    *sections, last = name.split(".")
    for section in sections:
        document = document.setdefault(section, {})
        if not isinstance(document, dict):
            raise MayflyError(f"{section} = {quantity.shown(document)}: must be a table")
    document[last] = value
