"""Scenario files: TOML, checked field by field, with overrides by dotted name."""

import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from mayfly import discipline_registry
from mayfly.errors import MayflyError
from mayfly.scenario.fields import Buffer, Group, Name, Rate, Seconds, Section, Whole
from mayfly.scenario.network import Network
from mayfly.scenario.sizes import SIZES, LawName, Sizes
from mayfly.scenario.sources import (
    DIRECTION,
    FROM,
    GROUP,
    PLACE,
    TO,
    USERS,
    Direction,
    OnOff,
    Part,
    Place,
    Replay,
    ShortTerm,
    Vbr,
)
from mayfly.scenario.transport import Tcp
from mayfly.text import quantity
from mayfly.text.nearest import hint

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


class Cbr(Section):
    """UDP flows of constant rate."""

    rate: Rate = Field(description="of each flow, on the wire")
    packet: Whole = Field(1500, ge=29, le=65_535, description="wire length, bytes")
    start: Seconds = Field(0.0, description="first packet")
    stop: Seconds | None = Field(None, description="from then on none is sent; end of the run when absent")
    flows: Whole = Field(1, ge=1, le=1_000_000, description="number of such flows")
    spread: Seconds = Field(0.0, description="each starts and stops later by a time below this; 0: in step")
    place: Place = Field("random", description=PLACE)
    renew: int | None = Field(
        None,
        strict=True,
        ge=1,
        description="packets after which a sender goes on under another port; never when absent",
    )
    users: int | None = Field(
        None, strict=True, ge=1, le=1_000_000, description=f"whom the flows are dealt to, {USERS}"
    )
    group: Group = Field(None, description=GROUP)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)
    direction: Direction = Field("down", description=DIRECTION)


class Permanent(Section):
    """TCP flows that never end."""

    flows: Whole = Field(1, ge=1, le=1_000_000, description="number of such flows")
    spread: Seconds = Field(0.0, description="each starts at a time uniform below this")
    rtt_min: Seconds | None = Field(
        None, gt=0, le=60, description="round-trip time of the first flow, of the path when absent"
    )
    rtt_max: Seconds | None = Field(None, gt=0, le=60, description="of the last one, those between at equal distances")
    users: int | None = Field(
        None, strict=True, ge=1, le=1_000_000, description=f"whom the flows are dealt to, {USERS}"
    )
    group: Group = Field(None, description=GROUP)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)
    direction: Direction = Field("down", description=DIRECTION)

    @model_validator(mode="after")
    def _both_rtts(self) -> "Permanent":
        if (self.rtt_min is None) != (self.rtt_max is None) or (self.rtt_min or 0) > (self.rtt_max or 0):
            raise ValueError(f"rtt_max = {self.rtt_max}: must be given with rtt_min, and at least {self.rtt_min}")
        return self


class Batch(Section):
    """A TCP transfer at a given time, split over several connections."""

    size: Buffer = Field(description="payload of all connections together: MSS, or bytes such as 5MB")
    flows: Whole = Field(1, ge=1, le=1_000_000, description="connections, which carry equal parts of it")
    start: Seconds = Field(0.0, description="when all its connections start")
    every: Seconds | None = Field(
        None, gt=0, description="time until the next such transfer, to the end of the run; only one when absent"
    )
    users: int | None = Field(
        None, strict=True, ge=1, le=1_000_000, description=f"whom the flows are dealt to, {USERS}"
    )
    group: Group = Field(None, description=GROUP)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)


class Web(Section):
    """Web sessions (Rai 2003, Table 1): pages of objects, read one after the other."""

    sessions: Whole = Field(1300, ge=1, le=1_000_000, description="number of sessions")
    session_gap: Seconds = Field(8.0, description="mean time from the start of a session to the next; exponential")
    start: Seconds = Field(0.0, description="start of the first session")
    pages: float = Field(60, gt=0, le=1e6, description="mean pages of a session; exponential, rounded up")
    page_gap: Seconds = Field(5.0, description="mean time to read a page; exponential")
    objects: float = Field(3, gt=0, le=1e6, description="mean objects of a page; exponential, rounded up")
    object_gap: Seconds = Field(0.5, description="mean time from one object of a page to the next; exponential")
    mean: float = Field(12, gt=0, description="mean object size, MSS; Pareto II, rounded up")
    shape: float = Field(1.2, gt=1, le=1000, description="tail exponent of the object size")
    sizes: Sizes | None = Field(None, description=f"objects: {SIZES}, in place of mean and shape")
    loop: Literal["closed", "open"] = Field(
        "closed", description="a page is read once it is complete (as in ns-2's WebTraf), or from its start on"
    )
    request: Buffer | None = Field(
        None, description="closed loop: payload sent up to ask for an object, on a connection of its own: MSS or bytes"
    )
    group: Group = Field(None, description=GROUP)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)


class Http(Section):
    """Pages over HTTP/1.1 or HTTP/2, read one after the other; each ends with its last connection."""

    version: Literal["1.1", "2"] = Field(
        "1.1", description="persistent connections, a request at a time on each, or one connection for all at once"
    )
    connections: Whole = Field(6, ge=1, le=100, description="connections of a page; HTTP/2 has one")
    request: Buffer = Field("400B", description="payload of a request: MSS, or bytes")
    think: Seconds = Field("20ms", le=3600, description="time of the server before each answer")
    sessions: Whole = Field(10, ge=1, le=1_000_000, description="number of sessions")
    session_gap: Seconds = Field(1.0, description="mean time from the start of a session to the next; exponential")
    start: Seconds = Field(0.0, description="start of the first session")
    pages: float = Field(60, gt=0, le=1e6, description="mean pages of a session; exponential, rounded up")
    page_gap: Seconds = Field(5.0, description="mean time to read a page; exponential")
    objects: float = Field(20, gt=0, le=1e6, description="mean objects of a page; exponential, rounded up")
    mean: float = Field(12, gt=0, description="mean object size, MSS; Pareto II, rounded up")
    shape: float = Field(1.2, gt=1, le=1000, description="tail exponent of the object size")
    sizes: Sizes | None = Field(None, description=f"objects: {SIZES}, in place of mean and shape")
    group: Group = Field(None, description=GROUP)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)


class Workload(Section):
    """TCP transfers with sizes in MSS, beside flows of other kinds."""

    load: Rate | None = Field(
        None, description="offered load of the transfers on the wire; none when absent, unless arrivals = trace"
    )
    arrivals: Literal["poisson", "weibull", "trace"] = Field(
        "poisson", description="times between transfers, or their start times from a file, which takes no load"
    )
    arrival_shape: float | None = Field(
        None, ge=0.2, le=100, description="weibull: shape of the times between arrivals; below 1 bursts, 1 is poisson"
    )
    arrival_file: str | None = Field(
        None, description="trace: CSV with the column start_s, seconds, from the working directory"
    )
    law: LawName = Field("zipf", description="law of the sizes, by the four fields below; sizes takes all its others")
    minimum: float | None = Field(
        None, description="smallest size, MSS; zipf, pareto: any three of these four, else 6, mean 40, cov 6"
    )
    maximum: float | None = Field(None, description="largest size, MSS")
    mean: float | None = Field(None, description="mean size, MSS")
    cov: float | None = Field(None, description="coefficient of variation of the size")
    sizes: Sizes | None = Field(None, description=f"{SIZES}, in place of law, minimum, maximum, mean and cov")
    exact_load: bool = Field(False, description="make the realised load the nominal one")
    up_share: float = Field(0.0, ge=0, le=1, description="share of transfers in the reverse direction")
    senders: Whole = Field(5, ge=1, le=100_000, description="hosts that send downwards, one access link each")
    receivers: Whole = Field(5, ge=1, le=100_000, description="hosts at the other side")
    users: int | None = Field(
        None, strict=True, ge=1, le=1_000_000, description=f"whom each transfer is drawn for, {USERS}"
    )
    group: Group = Field(None, description=GROUP)
    from_: Group = Field(None, alias="from", description=FROM)
    to: Group = Field(None, description=TO)
    part: tuple[Part, ...] = ()
    cbr: tuple[Cbr, ...] = ()
    permanent: tuple[Permanent, ...] = ()
    batch: tuple[Batch, ...] = ()
    web: Annotated[tuple[Web, ...], BeforeValidator(_as_array)] = ()
    on_off: tuple[OnOff, ...] = ()
    vbr: tuple[Vbr, ...] = ()
    replay: tuple[Replay, ...] = ()
    short_term: tuple[ShortTerm, ...] = ()
    http: Annotated[tuple[Http, ...], BeforeValidator(_as_array)] = ()

    @model_validator(mode="before")
    @classmethod
    def _default_law(cls, given: Any) -> Any:
        """Minimum 6, mean 40, CoV 6, unless the scenario says otherwise (shared errata of Chen 2012, 4.4.2)."""
        if not isinstance(given, dict) or given.get("law", "zipf") not in ("zipf", "pareto"):
            return given
        if not any(name in given for name in ("minimum", "maximum", "mean", "cov")):
            given = {**given, "minimum": 6, "mean": 40, "cov": 6}
        return given

    @model_validator(mode="after")
    def _arrivals_complete(self) -> "Workload":
        for name, kind in (("arrival_shape", "weibull"), ("arrival_file", "trace")):
            value = getattr(self, name)
            if (value is None) == (self.arrivals == kind):
                what = "must be given with" if value is None else "only goes with"
                raise ValueError(f"{name} = {'none' if value is None else value}: {what} arrivals = {kind}")
        if self.arrivals == "trace" and self.load is not None:
            raise ValueError(f"load = {self.load}: must be left out with arrivals = trace, which set it")
        if (shares := sum(part.share for part in self.part)) > 1 + 1e-9:
            raise ValueError(f"share of all [[workload.part]] = {shares:g}: must be at most 1")
        if self.part and self.load is None and self.arrivals != "trace":
            raise ValueError("[[workload.part]] without load: there are no transfers to take part of")
        if self.arrivals == "trace" and self.exact_load:
            raise ValueError("exact_load = true: must be left out with arrivals = trace")
        return self


class Scenario(Section):
    """Network, transport and workload of a run, and what to compare on it."""

    name: str = Field("unnamed", description="in summary and report; the name of the file when absent")
    title: str = Field("", description="heading of the report")
    duration: Seconds = Field("1000s", description="end of the run")
    warm_up: Seconds = Field(
        "0s",
        description="counters, queue averages and shares of groups are taken from then on; flow records are not cut",
    )
    stop_when_idle: bool = Field(False, description="end the run with its last flow")
    seed: Whole = Field(1, ge=0, le=2**63 - 1, description="of all random streams")
    replications: Whole = Field(1, ge=1, le=100_000, description="runs with seeds seed, seed + 1, ...")
    disciplines: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = ("fifo", "las", "run2c", "efd", "lars")
    sample_interval: Seconds | None = Field(
        None, description="time between samples; a thousandth of the duration when absent, 0 for none"
    )
    nonresponsive: Annotated[tuple[Name, ...], BeforeValidator(_as_names)] = Field(
        (), description="groups of TCP flows that samples count with those of UDP as not responding to drops"
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
    workload: Workload = Field(default_factory=Workload)

    @model_validator(mode="after")
    def _holds_together(self) -> "Scenario":
        if self.duration < 1e-9:
            raise ValueError(f"duration = {self.duration}: must be at least 1ns")
        if not self.warm_up < self.duration:
            raise ValueError(f"warm_up = {self.warm_up}: must be below the duration, {self.duration} s")
        if self.tcp.max_rto < self.tcp.min_rto:
            raise ValueError(f"tcp.max_rto = {self.tcp.max_rto}: must be at least tcp.min_rto, {self.tcp.min_rto} s")
        if self.sample_interval and self.duration / self.sample_interval > MOST_SAMPLES:
            least = self.duration / MOST_SAMPLES
            raise ValueError(f"sample_interval = {self.sample_interval}: must be 0, or at least {least:.3g} s")
        if self.network.wlan is not None and self.workload.receivers != Workload.model_fields["receivers"].default:
            raise ValueError("workload.receivers with [network.wlan]: must be left out: the stations are the receivers")
        for label in ("buffer", "reverse_buffer"):
            limit = getattr(self.network, label)
            if self.network.buffer_counts_transmission and limit is not None and limit[0] < 2:
                raise ValueError(f"network.{label} = 1: must be at least 2 when it counts the packet in transmission")
        return self

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


def scenario_of(document: dict, source: str) -> Scenario:
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
        for section in (field.annotation, element):
            if isinstance(section, type) and issubclass(section, BaseModel):
                names += field_names(section, f"{prefix}{name}.", inside_arrays)
                # A section that may be absent is a field as a whole too.
                names += [prefix + name] * (type(None) in get_args(field.annotation))
                break
        else:
            names.append(prefix + name)
    return names


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
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        ready = ", ".join(sorted(found.stem for found in READY.glob("*.toml")))
        raise MayflyError(f"{source}: no such file; ready scenarios are {ready}") from None
    except RecursionError:
        raise MayflyError(f"{source}: not a scenario file: nested too deeply") from None
    except (OSError, ValueError) as error:
        # Bytes that are no text, text that is no TOML, numbers of thousands of digits, names no file can have.
        reason = (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
        raise MayflyError(f"{source}: not a scenario file: {reason}") from None
    document.setdefault("name", path.stem)
    for name, value in (overrides or {}).items():
        _place(document, name, value)
    return scenario_of(document, str(source))


def _section(document: Any, names: list[str]) -> Any:
    for name in names:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def _may_be_absent(name: str) -> bool:
    """Whether the field lies in a section that is a field as a whole, such as workload.sizes."""
    known = field_names(inside_arrays=True)
    return name in known and name.rpartition(".")[0] in known


def _place(document: dict, name: str, value: Any) -> None:
    sections = name.split(".")[:-1]
    # A table written without brackets, such as [workload.web], is the only one of its kind.
    single = _section(document, sections) if name in field_names(inside_arrays=True) else None
    absent = single is None and isinstance(_section(document, sections[:-1]), dict) and _may_be_absent(name)
    if name not in field_names() and not isinstance(single, dict) and not absent:
        raise MayflyError(f"--set {name}: {_unknown(name.split('.'))}")
    *sections, last = name.split(".")
    for section in sections:
        document = document.setdefault(section, {})
        if not isinstance(document, dict):
            raise MayflyError(f"{section} = {quantity.shown(document)}: must be a table")
    document[last] = value
