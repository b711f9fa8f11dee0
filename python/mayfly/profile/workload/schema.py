"""The file of a workload: TOML, checked field by field.

Principle: a class of traffic is who talks to whom (Chen 2012, Table 8.2), which way the bytes go, and the protocol.
Each has arrivals, sizes and round-trip times of its own. The file holds what is drawn from and nothing else.
"""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationError, model_validator

from mayfly.errors import MayflyError
from mayfly.fields import Section
from mayfly.profile.workload.laws import Share, Values
from mayfly.text.files import bounded_text
from mayfly.text.folder import filled

Count = Annotated[int, Field(strict=True, ge=0)]
Above = Annotated[float, Field(gt=0)]


class Period(Section):
    """A time of one level of the load."""

    start_s: Annotated[float, Field(ge=0)]
    end_s: Above
    mean_bps: Annotated[float, Field(ge=0, description="of all classes, headers included")]
    stationary: bool | None = Field(None, description="whether the test leaves a constant level standing")
    busy: bool = False


class Datagrams(Section):
    """UDP flows as they were measured: size, packet length and rate go together."""

    size_bytes: list[Annotated[int, Field(strict=True, ge=1)]] = Field(min_length=1, description="payload")
    packet_bytes: list[Annotated[int, Field(strict=True, ge=29, le=65_535)]]
    rate_bps: list[Annotated[float, Field(ge=1, le=1e12)]]
    weights: list[Above] = Field(description="how many measured flows each row stands for")

    @model_validator(mode="after")
    def _match(self) -> Datagrams:
        counts = {name: len(getattr(self, name)) for name in ("size_bytes", "packet_bytes", "rate_bps", "weights")}
        if len(set(counts.values())) > 1:
            raise ValueError(f"{counts}: must be equally many")
        return self


class Ends(Section):
    """Who sends to whom."""

    src: list[str] = Field(min_length=1)
    dst: list[str]
    weights: list[Above] = Field(description="measured flows of each pair")
    left_out: Share = Field(0.0, description="share of the flows whose pair is too rare to be kept")

    @model_validator(mode="after")
    def _match(self) -> Ends:
        if not len(self.src) == len(self.dst) == len(self.weights):
            raise ValueError(f"{len(self.src)} src, {len(self.dst)} dst: must be equally many, with a weight each")
        return self


class Class(Section):
    """Flows of one class, direction and protocol."""

    name: Literal["lc-rp", "ls-rp", "lc-ls", "ls-ls", "other"] = Field(description="who talks to whom")
    side: Literal["external", "internal", "neither"] = Field(description="across the boundary of the site, or inside")
    direction: Literal["down", "up"]
    protocol: Literal["tcp", "udp"]
    flows: Count = Field(description="measured")
    rate: Above = Field(description="flows per second")
    mean_bps: Annotated[float, Field(ge=0, description="measured load of these flows, headers included")]
    opened_by_sender: Share = Field(1.0, description="share of the flows whose sender opened the connection")
    activity: list[Annotated[float, Field(ge=0)]] = Field(description="rate of each period over the mean rate")
    gap: Values = Field(description="times between arrivals, s; only their shape counts, `rate` sets the mean")
    size: Values | None = Field(None, description="TCP: payload, bytes")
    rtt: Values | None = Field(None, description="TCP: round-trip time, s; that of the path when absent")
    datagrams: Datagrams | None = Field(None, description="UDP: in place of size and rtt")
    ends: Ends

    @model_validator(mode="after")
    def _of_protocol(self) -> Class:
        needed, other = ("size", "datagrams") if self.protocol == "tcp" else ("datagrams", "size")
        if getattr(self, needed) is None or getattr(self, other) is not None:
            raise ValueError(f"protocol = {self.protocol}: must have {needed}, and no {other}")
        if not self.gap.mean() > 0:
            raise ValueError("gap: must have a mean above 0")
        return self

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells classes apart, and their random streams."""
        return self.name, self.side, self.direction, self.protocol


class Workload(Section):
    """A workload file.

    Parameters
    ----------
    sources : list of str
        Captures it was made of.
    duration_s : float
        Time that was measured, s.
    left_out : dict of int
        Flows and payload bytes of connections that began before the capture, which are in no class; packets that are
        copies of others, and those that a filter left out, where there were any.
    period : list of Period
        They cover the duration; a longer draw begins them again.
    class_ : list of Class
        ``class`` in the file.
    """

    version: Literal[1] = 1
    sources: list[str]
    duration_s: Above
    left_out: dict[str, Count] = Field(default_factory=dict)
    period: list[Period] = Field(min_length=1)
    class_: list[Class] = Field(alias="class", min_length=1)

    @model_validator(mode="after")
    def _fit_together(self) -> Workload:
        ends = [0.0, *(period.end_s for period in self.period)]
        starts = [*(period.start_s for period in self.period), self.duration_s]
        if not np.allclose(ends, starts, rtol=1e-9, atol=1e-6):
            raise ValueError(f"period: must cover 0 to duration_s = {self.duration_s:g} without gaps")
        lengths = [period.end_s - period.start_s for period in self.period]
        if not min(lengths) > 0:
            raise ValueError("period: each must end after its start")
        keys = [one.key for one in self.class_]
        for one in self.class_:
            if len(one.activity) != len(self.period):
                raise ValueError(f"activity of {one.name}: must have a value for each of {len(self.period)} periods")
            if keys.count(one.key) > 1:
                raise ValueError(f"class {' '.join(one.key)}: must be there once")
            mean = float(np.average(one.activity, weights=lengths))
            if abs(mean - 1) > 1e-6:
                raise ValueError(f"activity of {one.name}: has the mean {mean:.6g} over time, must have 1")
        return self


def read_workload(path: str | os.PathLike[str]) -> Workload:
    """Read a workload file.

    Parameters
    ----------
    path : path
        TOML.

    Returns
    -------
    Workload

    Raises
    ------
    MayflyError
        The file is missing, no TOML, or holds a value outside its bounds: one line with field, value and bound.
    """
    try:
        document = tomllib.loads(bounded_text(Path(path)))
    except RecursionError:
        raise MayflyError(f"{path}: cannot be read: nested too deeply") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise MayflyError(f"{path}: cannot be read: {reason}") from None
    try:
        return Workload.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        value = f" = {str(first['input'])[:60]}" if first["type"] not in ("missing", "value_error") else ""
        reason = first["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
        raise MayflyError(f"{path}: {where}{value}: {reason[:1].lower()}{reason[1:]}") from None


def write_workload(workload: Workload, path: str | os.PathLike[str]) -> str:
    """Write a workload file, or none at all.

    Parameters
    ----------
    workload : Workload
        What to write.
    path : path
        TOML.

    Returns
    -------
    str
        The path.

    Raises
    ------
    MayflyError
        It cannot be written.
    """
    path = Path(path)
    document = workload.model_dump(by_alias=True, exclude_none=True, mode="json")
    with filled(path.parent, (path.name,)) as partial:
        (partial / path.name).write_text("\n".join(_lines(document)) + "\n", encoding="utf-8")
    return os.fspath(path)


def _lines(document: dict[str, Any]) -> list[str]:
    """TOML: the plain fields, then each array of tables; tables in tables are inline."""
    arrays = {name: rows for name, rows in document.items() if isinstance(rows, list) and isinstance(rows[0], dict)}
    found = [f"{name} = {_value(value)}" for name, value in document.items() if name not in arrays]
    for name, rows in arrays.items():
        for row in rows:
            found += ["", f"[[{name}]]", *(f"{key} = {_value(value)}" for key, value in row.items())]
    return found


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_value(part)}" for key, part in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    # Numbers, strings, true and false are spelt as in JSON, but for the character DEL.
    return json.dumps(value).replace("\x7f", "\\u007f")
