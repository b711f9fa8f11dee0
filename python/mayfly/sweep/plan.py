"""The file of a sweep: what varies, over which seeds, when to stop."""

import itertools
import math
import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, Field, ValidationError, model_validator

from mayfly import discipline_registry
from mayfly.arrays import Floats
from mayfly.errors import MayflyError
from mayfly.fields import Section, Whole
from mayfly.scenario.scenario import READY, load_scenario
from mayfly.simulate.run import named
from mayfly.text import quantity
from mayfly.text.files import bounded_text

MOST_POINTS = 1_000_000
"""Points of a design."""

MOST_SEEDS = 100_000
"""Seeds of a point."""

MOST_RUNS = 10_000_000
"""Runs of a sweep: they are planned in memory."""

WHOLE_SWEEP = ("seed", "replications", "disciplines", "name", "title", "trace", "subflows")
"""Scenario fields that are no fields of a sweep: the sweep decides on them itself, or keeps no such table."""

_QUANTITY = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z%]*)\s*\Z")

Value = bool | int | float | str
"""Of a scenario field, as a scenario file writes it."""


class Range(Section):
    """Values between two bounds."""

    from_: int | float | str = Field(alias="from", description="first value, with its unit")
    to: int | float | str = Field(description="last value, in the same unit")
    steps: Whole = Field(5, ge=2, le=10_000, description="values of a grid; a random design draws between the bounds")
    scale: Literal["linear", "log"] = Field("linear", description="equal differences, or equal ratios")

    def bounds(self) -> tuple[float, float, str]:
        """Both bounds as numbers, and their unit."""
        first, last = (_QUANTITY.match(str(value)) for value in (self.from_, self.to))
        if not first or not last or first[2] != last[2]:
            raise ValueError(f"from = {self.from_}, to = {self.to}: must be numbers with the same unit")
        low, high = float(first[1]), float(last[1])
        if not (math.isfinite(low) and math.isfinite(high)) or low >= high:
            raise ValueError(f"to = {self.to}: must be above from = {self.from_}")
        if self.scale == "log" and low <= 0:
            raise ValueError(f"from = {self.from_}: must be above 0 with scale = log")
        return low, high, first[2]

    @model_validator(mode="after")
    def _makes_sense(self) -> "Range":
        self.bounds()
        return self

    def at(self, shares: Floats) -> list[Value]:
        """Values at these shares of the way from the first to the last.

        Parameters
        ----------
        shares : ndarray, shape (n,)
            From 0 to 1.

        Returns
        -------
        list
            Whole numbers where both bounds are, else with at most six digits; with the unit.
        """
        low, high, unit = self.bounds()
        values = low * (high / low) ** shares if self.scale == "log" else low + (high - low) * shares
        whole = low == int(low) and high == int(high) and (not unit) and "." not in f"{self.from_}{self.to}"
        numbers = [round(v) if whole else float(f"{v:.6g}") for v in values]
        return [f"{number:.10g}{unit}" for number in numbers] if unit else numbers


class Stop(Section):
    """Seeds are added at a point until the mean of a figure is known well enough there under every discipline."""

    metric: str = Field("short.mean_s", description="figure of a run, as the results name it")
    relative_ci: float = Field(
        0.05, gt=0, lt=1, description="half the 95 % interval over the seeds, as share of the mean"
    )
    min_seeds: Whole = Field(3, ge=2, le=100_000, description="seeds that run in any case")
    max_seeds: Whole = Field(30, ge=2, le=100_000, description="seeds at most")

    @model_validator(mode="after")
    def _in_order(self) -> "Stop":
        if self.max_seeds < self.min_seeds:
            raise ValueError(f"max_seeds = {self.max_seeds}: must be at least min_seeds, {self.min_seeds}")
        return self


def _as_list(value: object) -> object:
    """`fifo,efd` as `["fifo", "efd"]`."""
    return discipline_registry.split(value) if isinstance(value, str) else value


class Sweep(Section):
    """The file as written."""

    scenario: str = Field(description="ready scenario, or a file beside this one")
    flows: str | None = Field(None, description="flow list in place of the scenario's workload, a file beside this one")
    disciplines: Annotated[tuple[str, ...] | None, BeforeValidator(_as_list)] = Field(
        None, description="of the scenario when absent"
    )
    design: Literal["grid", "list", "random"] = Field(
        "grid", description="every combination of the values, the points as listed, or points drawn at random"
    )
    points: Whole | None = Field(None, ge=1, le=MOST_POINTS, description="random: how many")
    draw: Whole = Field(1, ge=0, le=2**63 - 1, description="random: seed of the draw of the points")
    seeds: Whole | tuple[Whole, ...] = Field(
        1, description="how many, from the scenario's on, or which; the same at every point and for every discipline"
    )
    fields: dict[str, tuple[Value, ...] | Range] = Field(default_factory=dict, description="what varies")
    point: tuple[dict[str, Value], ...] = Field((), description="list: the fields of each point")
    set: dict[str, Value] = Field(default_factory=dict, description="fields that have another value at every point")
    stop: Stop | None = Field(None, description="add seeds until the figure is known well enough")
    warm_up: Literal["none", "100s", "mser"] = Field(
        "none",
        description="transfers that do not count: none, those that start in the first 100 s, or as many as MSER-5 cuts",
    )
    records: bool = Field(False, description="keep the flow records of every run")

    @model_validator(mode="after")
    def _design_complete(self) -> "Sweep":
        if (self.design == "random") != (self.points is not None):
            raise ValueError(f"points = {self.points}: must be given with design = random, and only then")
        if (self.design == "list") != bool(self.point):
            raise ValueError("[[point]]: must be given with design = list, and only then")
        if self.design == "list" and self.fields:
            raise ValueError("[fields]: must be left out with design = list, whose points name their fields")
        if self.stop is not None and self.seeds != 1:
            raise ValueError(f"seeds = {self.seeds}: must be left out with [stop], which adds them as needed")
        given = self.seeds if isinstance(self.seeds, tuple) else (self.seeds,)
        if max(len(given), 0 if isinstance(self.seeds, tuple) else given[0]) > MOST_SEEDS:
            raise ValueError(f"seeds: must be at most {MOST_SEEDS}")
        if not given or min(given) < (0 if isinstance(self.seeds, tuple) else 1) or len(set(given)) < len(given):
            raise ValueError(f"seeds = {self.seeds}: must be at least 1, or different seeds from 0 on")
        if empty := [name for name, values in self.fields.items() if values == ()]:
            raise ValueError(f"fields.{empty[0]} = []: must have a value")
        return self


@dataclass(frozen=True)
class Plan:
    """What is to run.

    Parameters
    ----------
    sweep : Sweep
        The file.
    scenario : str
        Ready scenario or path.
    flows : str or None
        Path of the flow list.
    points : tuple of dict
        Values by field, as the file writes them.
    names : tuple of str
        All fields that vary, in order.
    disciplines : tuple of str
        Labels.
    seeds : tuple of int
        In order; those that may run, where the sweep stops by itself.
    """

    sweep: Sweep
    scenario: str
    flows: str | None
    points: tuple[dict[str, Value], ...]
    names: tuple[str, ...]
    disciplines: tuple[str, ...]
    seeds: tuple[int, ...]

    @property
    def most_runs(self) -> int:
        """Runs, at most."""
        return len(self.points) * len(self.disciplines) * len(self.seeds)

    def overrides(self, point: dict[str, Value]) -> dict[str, Value]:
        """Scenario fields at a point, by dotted name."""
        return {**self.sweep.set, **{name: value for name, value in point.items() if not _is_option(name)}}

    def discipline(self, label: str, point: dict[str, Value]) -> str:
        """The discipline with the options that vary at a point, as a user would write it."""
        own = named([label])[0]
        options = [f"{name.partition('.')[2]}={value}" for name, value in point.items() if _option_of(name) == own.id]
        return named([_with_options(label, options)])[0].label if options else own.label


def load_plan(path: str | os.PathLike[str], overrides: dict[str, Value] | None = None) -> Plan:
    """Reads the file of a sweep and checks every field and discipline in it.

    Parameters
    ----------
    path : path
        TOML.
    overrides : dict, optional
        Scenario fields for every point, by dotted name, in place of those of ``[set]``.

    Returns
    -------
    Plan
        Its points in order.

    Raises
    ------
    MayflyError
        The file cannot be read, or the first value that is refused.
    """
    path = Path(path)
    try:
        document = tomllib.loads(bounded_text(path))
    except OSError as error:
        raise MayflyError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        raise MayflyError(f"{path}: not a sweep: {reason}") from None
    try:
        sweep = Sweep.model_validate(document)
    except ValidationError as error:
        raise MayflyError(f"{path}: {_told(error)}") from None
    if overrides:
        sweep = sweep.model_copy(update={"set": {**sweep.set, **overrides}})
    scenario = _beside(path, sweep.scenario)
    points = tuple(_points(sweep))
    names = tuple(dict.fromkeys(name for point in points for name in point))
    _refuse_names((*names, *sweep.set), path)
    try:
        first = load_scenario(scenario, {**sweep.set, **_fields_only(points[0])})
        chosen = tuple(
            d.label for d in named(sweep.disciplines if sweep.disciplines is not None else first.disciplines)
        )
    except MayflyError as error:
        raise MayflyError(f"{path}: {str(error).removeprefix('--set ')}") from None
    seeds = sweep.seeds
    if not isinstance(seeds, tuple):
        count = seeds if sweep.stop is None else sweep.stop.max_seeds
        seeds = tuple(range(first.seed, first.seed + count))
    flows = None if sweep.flows is None else str((path.parent / sweep.flows).resolve())
    if flows is not None and len(seeds) > 1 and first.tick_s <= 1e-9:
        raise MayflyError(f"{path}: flows with {len(seeds)} seeds: a given list is one workload; seeds must be 1")
    plan = Plan(sweep, scenario, flows, points, names, chosen, seeds)
    if plan.most_runs > MOST_RUNS:
        raise MayflyError(
            f"{path}: {plan.most_runs:,} runs: must be at most {MOST_RUNS:,}; fewer seeds, points or disciplines"
        )
    _refuse_values(plan, path)
    return plan


def _beside(path: Path, scenario: str) -> str:
    """A file beside the sweep, unless there is none and a ready scenario has that name."""
    beside = path.parent / scenario
    if not beside.is_file() and (READY / f"{scenario}.toml").is_file():
        return scenario
    return str(beside)


def _points(sweep: Sweep) -> list[dict[str, Value]]:
    if sweep.design == "list":
        return list(sweep.point)
    if sweep.design == "random":
        rng = np.random.Generator(np.random.PCG64(sweep.draw))
        # A random design without a number of points is refused when it is read.
        assert sweep.points is not None
        columns = {}
        for name, among in sweep.fields.items():
            shares = rng.random(sweep.points)
            drawn = among.at(shares) if isinstance(among, Range) else [among[int(s * len(among))] for s in shares]
            columns[name] = drawn
        return [{name: column[k] for name, column in columns.items()} for k in range(sweep.points)]
    values: list[Sequence[Value]] = [
        v.at(np.linspace(0, 1, v.steps)) if isinstance(v, Range) else v for v in sweep.fields.values()
    ]
    if (count := math.prod(map(len, values))) > MOST_POINTS:
        raise MayflyError(
            f"[fields]: {count} points: must be at most {MOST_POINTS}; design = random draws some of them"
        )
    return [dict(zip(sweep.fields, point, strict=True)) for point in itertools.product(*values)]


def _option_of(name: str) -> str | None:
    """The discipline whose option this is, such as efd for efd.threshold."""
    head = name.partition(".")[0]
    return head if head in {row["id"] for row in discipline_registry.disciplines()} else None


def _is_option(name: str) -> bool:
    return _option_of(name) is not None


def _fields_only(point: dict[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in point.items() if not _is_option(name)}


def _with_options(label: str, options: list[str]) -> str:
    name, _, rest = label.rstrip(")").partition("(")
    taken = {option.partition("=")[0] for option in options}
    kept = [part for part in rest.split(",") if part and part.partition("=")[0].strip() not in taken]
    return f"{name}({','.join([*kept, *options])})"


def _refuse_names(names: tuple[str, ...], path: Path) -> None:
    for name in names:
        if name in WHOLE_SWEEP:
            raise MayflyError(f"{path}: {name}: is no field of a sweep; seeds and disciplines have places of their own")


def _refuse_values(plan: Plan, path: Path) -> None:
    """Every value of every field once, in an otherwise first point: the mistakes that can be told before the runs."""
    seen: set[tuple[str, Value]] = set()
    for point in plan.points:
        fresh = {item for item in point.items()} - seen
        if not fresh:
            continue
        seen |= fresh
        try:
            load_scenario(plan.scenario, plan.overrides(point))
            for label in plan.disciplines:
                plan.discipline(label, point)
        except MayflyError as error:
            # One bad combination of a grid is a failed run; a bad value is a mistake in the file.
            if plan.sweep.design == "grid" and len(plan.names) > 1 and len(fresh) < len(point):
                continue
            raise MayflyError(f"{path}: {error}") from None
    for name in plan.names:
        if (owner := _option_of(name)) and owner not in {named([label])[0].id for label in plan.disciplines}:
            raise MayflyError(f"{path}: {name}: {owner} is not among the disciplines")


def _told(error: ValidationError) -> str:
    # Of the forms that a value may have, the one that says most of what was written.
    telling = ("extra_forbidden", "value_error")
    errors = error.errors(include_url=False)
    first = min(
        errors, key=lambda e: telling.index(e["type"]) if e["type"] in telling else 2 + (e["type"] == "tuple_type")
    )
    where = ".".join(str(part) for part in first["loc"] if not str(part).startswith(("tuple[", "int", "Range")))
    if first["type"] == "extra_forbidden":
        known = ", ".join(field.alias or name for name, field in Sweep.model_fields.items())
        return f"unknown field {where}; a sweep has {known}"
    reason = first["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    if first["type"] in ("missing", "value_error"):
        return f"{where}: {reason}" if where else reason
    return f"{where} = {quantity.shown(first['input'])}: {reason[:1].lower()}{reason[1:]}"
