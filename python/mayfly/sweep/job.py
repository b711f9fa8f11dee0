"""One run of a sweep: what it is, the name its result goes by, and the row it gives."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

from mayfly.comparison.checked import job_of
from mayfly.comparison.comparison import SCHEMA, gather
from mayfly.comparison.plain import plain_comparison
from mayfly.errors import MayflyError
from mayfly.scenario.scenario import Scenario, load_scenario
from mayfly.simulate.run import RunResult, named, run_one, starting_in_time, workload
from mayfly.summary_types import Accounted
from mayfly.sweep.mser import mser
from mayfly.workers.job import Done

RULE_S = 100.0
"""Transfers that start before do not count, by the rule of a hundred seconds."""

_NAMES_ONLY = ("name", "title", "disciplines", "replications", "seed")


@dataclass(frozen=True)
class Job:
    """One run.

    Parameters
    ----------
    scenario : str
        Ready scenario or path.
    overrides : dict
        Scenario fields, by dotted name.
    point : dict
        What varies, for the row.
    discipline : str
        With its options.
    label : str
        The discipline as the sweep names it, without the options that vary.
    seed : int
    flows : str or None
        Path of a flow list.
    warm_up : str
        ``none``, ``100s`` or ``mser``.
    records : bool
        Whether the flow records are kept.
    """

    scenario: str
    overrides: dict[str, Any]
    point: dict[str, Any]
    discipline: str
    label: str
    seed: int
    flows: str | None = None
    warm_up: str = "none"
    records: bool = False

    def loaded(self) -> Scenario:
        """The scenario of the run.

        Raises
        ------
        MayflyError
            A value is refused.
        """
        return load_scenario(self.scenario, {**self.overrides, "seed": self.seed, "replications": 1})

    @property
    def key(self) -> str:
        """Address of the result by all that decides it: the same run is never made twice, whatever file asks for it.

        A scenario that is refused has the address of what was written.
        """
        try:
            resolved: Any = self.loaded().model_dump(mode="json", exclude=set(_NAMES_ONLY))
        except MayflyError:
            resolved = {"scenario": self.scenario, **self.overrides}
        content = {
            "mayfly": version("mayfly"),
            "schema": SCHEMA,
            "scenario": resolved,
            "files": [_digest(name) for name in _texts(resolved) if Path(name).is_file()],
            "flows": None if self.flows is None else _digest(self.flows),
            "discipline": self.discipline,
            "seed": self.seed,
            "warm_up": self.warm_up,
            "records": self.records,
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:24]

    def run(self, key: str) -> Done:
        """Runs it; a refusal is a row too.

        Parameters
        ----------
        key : str
            Its address.

        Returns
        -------
        row : dict
            ``key, status, error, discipline, variant, seed``, the fields as ``field.NAME``, and the figures of
            ``summary.json``, dotted.
        records : polars.DataFrame or None
            Flow records, where they are kept.
        """
        row = self._row(key)
        try:
            figures, records = _run(self)
        except (MayflyError, MemoryError, OSError) as error:
            reason = str(error) or type(error).__name__
            return row | {"status": "failed", "error": reason}, None
        return row | figures, records if self.records else None

    def lost(self, key: str, error: str) -> Done:
        """Its row where it was not run to its end, and why."""
        return self._row(key) | {"status": "failed", "error": error}, None

    def _row(self, key: str) -> dict[str, Any]:
        row: dict[str, Any] = {"key": key, "status": "done", "error": None, "discipline": self.label}
        row |= {"variant": self.discipline, "seed": self.seed}
        return row | {f"field.{name}": value for name, value in self.point.items()}


def _run(job: Job) -> tuple[dict[str, Any], pl.DataFrame | None]:
    scenario = job.loaded()
    if job.warm_up == "none" and not job.records:
        # Without tables to cut or to store a run of plain transfers takes the way of the commands.
        plain_job = job_of(scenario, draws=job.flows is None)
        plain = plain_comparison(plain_job, job.discipline, job.flows, command="simulate")
        if plain is not None:
            return _figures(plain.summary, 0.0, None), None
    accounts: list[Accounted] = []
    flows = workload(scenario) if job.flows is None else _flows(job.flows, scenario, accounts)
    result = run_one(scenario, named([job.discipline])[0], flows)
    cut_s, note = _cut(result, job.warm_up)
    kept = result
    if cut_s > 0:
        kept = replace(result, records=result.records.filter(pl.col("start_s") >= cut_s))
        if kept.records.height == 0:
            raise MayflyError(f"warm_up = {job.warm_up}: no transfer starts after {cut_s:g} s: raise the duration")
    summary = gather(scenario, [kept], "sweep").summary
    return _figures(summary | ({"account": accounts} if accounts else {}), cut_s, note), result.records


def _figures(summary: Mapping[str, Any], cut_s: float, note: str | None) -> dict[str, Any]:
    """The figures of a row; transfers count from ``cut_s`` on."""
    figures = flattened(summary["disciplines"][0])
    own = {"workload.flows": summary["workload"]["flows"], "workload.offered_mbps": summary["workload"]["offered_mbps"]}
    # Of a flow list: the numbers of its account.
    account = [flattened(one, "account.") for one in summary.get("account", [])[:1]]
    return {**figures, **own, **dict(*account), "warm_up_s": cut_s, "warm_up_note": note}


def _flows(path: str, scenario: Scenario, accounts: list[Accounted]) -> pl.DataFrame:
    from mayfly.workload.account import account_of_flows, account_of_rows, started
    from mayfly.workload.lists import read_flows

    flows = read_flows(path, mss=scenario.tcp.mss)
    accounts.append(account_of_rows(account_of_flows(flows, started(flows, scenario.duration)), path))
    return starting_in_time(flows, scenario.duration)


def _cut(result: RunResult, rule: str) -> tuple[float, str | None]:
    """Time from which transfers count, and what is to be said of it."""
    if rule == "none":
        return 0.0, None
    if rule == "100s":
        return RULE_S, None
    done = result.records.filter(pl.col("response_time_s").is_not_null() & (pl.col("protocol") == "tcp"))
    done = done.sort("start_s")
    cut = mser(done["response_time_s"].to_numpy())
    if cut is None:
        return 0.0, "too short to tell the warm-up: nothing was cut"
    return (float(done["start_s"][cut]) if cut else 0.0), None


def flattened(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Figures of a row of ``summary.json`` by dotted name; lists are left out.

    Parameters
    ----------
    row : mapping
        Nested.
    prefix : str
        Of the names.

    Returns
    -------
    dict
        Numbers, and None.

    Examples
    --------
    >>> flattened({"short": {"mean_s": 1.5, "ci95": [1, 2]}, "drops": 3, "id": "fifo"})
    {'short.mean_s': 1.5, 'drops': 3}
    """
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            found |= flattened(value, f"{prefix}{name}.")
        elif value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            found[prefix + name] = value
    return found


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for part in value.values() for text in _texts(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in _texts(part)]
    return [value] if isinstance(value, str) and 0 < len(value) < 1000 and "\0" not in value else []


@cache
def _digest(path: str) -> str:
    """Of a file's content."""
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise MayflyError(f"{path}: cannot be read: {error.strerror}") from None
