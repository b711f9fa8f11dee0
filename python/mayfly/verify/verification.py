"""The closed loop: real programs run under each discipline, and each is predicted from a capture of another."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from mayfly.comparison.recommendation import chosen
from mayfly.discipline_registry import parse, parse_list
from mayfly.discipline_registry.tc_options import leaf_of
from mayfly.errors import MayflyError
from mayfly.summary_types import Accounted
from mayfly.verify import real
from mayfly.verify.figures import BOUNDS, Figure, felt_row, figures
from mayfly.verify.outcome import Outcome, asked_of, measured
from mayfly.verify.predicted import predicted
from mayfly.verify.workloads import BY_ID, WORKLOADS

DISCIPLINES = ("fifo", "pie", "fq_codel", "cake", "efd", "lfq")
SOURCES = ("fifo", "fq_codel")
ENGINES = {"simulator": ("simulator",), "linux": ("linux",), "both": ("simulator", "linux")}

SEEDS = 5
"""Of the replay: what chance makes of a prediction."""

Progress = Callable[[float], None]


@dataclass(frozen=True)
class Pair:
    """One discipline, predicted from a capture of another.

    Parameters
    ----------
    workload, source, target : str
    engine : str
        What ran the replay: ``simulator`` or ``linux``.
    figures : list of Figure
    better, predicted_better : list of str
        Which of the two the rule of the recommendation takes, and those it holds for as good: by what was, and by the
        prediction.
    """

    workload: str
    source: str
    target: str
    engine: str
    figures: list[Figure]
    better: list[str]
    predicted_better: list[str]

    @property
    def is_right(self) -> bool:
        """Whether the prediction takes one that was best, or as good."""
        return self.predicted_better[0] in self.better


@dataclass(frozen=True)
class Choice:
    """What was recommended of all disciplines from one capture.

    Parameters
    ----------
    workload, source, engine : str
    best : list of str
        By what was: the one, and those as good.
    recommended : list of str
        The same by the prediction.
    """

    workload: str
    source: str
    engine: str
    best: list[str]
    recommended: list[str]

    @property
    def is_right(self) -> bool:
        """Whether what is recommended was best, or as good."""
        return self.recommended[0] in self.best


@dataclass
class Verification:
    """All of it.

    Parameters
    ----------
    pairs : list of Pair
    choices : list of Choice
    kernel : str
        Release that the programs ran on.
    seed : int
        Of the users.
    seeds : int
        Of the replay.
    accounts : dict
        Of the captures by their names: how much of each was seen, used, and left out by reason.
    """

    pairs: list[Pair] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    kernel: str = ""
    seed: int = 1
    seeds: int = SEEDS
    accounts: dict[str, Accounted] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """For ``summary.json``."""
        return {
            "schema": 1,
            "command": "verify",
            "kernel": self.kernel,
            "seed": self.seed,
            "seeds": self.seeds,
            "bounds": {kind: list(bound) for kind, bound in BOUNDS.items()},
            "errors": errors(self.pairs),
            "account": list(self.accounts.values()),
            "pairs": [
                {
                    **{name: value for name, value in asdict(pair).items() if name != "figures"},
                    "right": pair.is_right,
                    "kept_aside": BY_ID[pair.workload].kept_aside,
                    "figures": [asdict(one) | {"state": one.state} for one in pair.figures],
                }
                for pair in self.pairs
            ],
            "choices": [asdict(choice) | {"right": choice.is_right} for choice in self.choices],
        }


def errors(pairs: Sequence[Pair]) -> dict[str, dict[str, float | int | None]]:
    """How far predictions are off, by kind of figure.

    Parameters
    ----------
    pairs : sequence of Pair

    Returns
    -------
    dict of dict
        By kind: ``figures``, how many are ``in``, ``chance`` and ``out``, and ``median`` and ``p90`` of the relative
        error without its sign; None without any.
    """
    found: dict[str, dict[str, float | int | None]] = {}
    for kind in BOUNDS:
        own = [one for pair in pairs for one in pair.figures if one.kind == kind]
        off = sorted(abs(one.error) for one in own if one.real)
        states = [one.state for one in own]
        found[kind] = {
            "figures": len(own),
            "in": states.count("in"),
            "chance": states.count("?"),
            "out": states.count("out"),
            "median": median(off) if off else None,
            "p90": off[min(len(off) - 1, int(0.9 * len(off)))] if off else None,
        }
    return found


def chosen_of(disciplines: str | None, sources: str | None) -> dict[str, Sequence[str]]:
    """Disciplines and sources as a user writes them.

    Raises
    ------
    MayflyError
        An unknown discipline, or one that the kernel does not have.
    """
    chosen = {"disciplines": (disciplines, DISCIPLINES), "sources": (sources, SOURCES)}
    found: dict[str, Sequence[str]] = {
        name: default if given is None else [one.label for one in parse_list(given)]
        for name, (given, default) in chosen.items()
    }
    for name in found["disciplines"]:
        leaf_of(parse(name))
    if sources is None and disciplines is not None:
        found["sources"] = [name for name in SOURCES if name in found["disciplines"]] or found["disciplines"][:1]
    return found


def engines_of(name: str) -> tuple[str, ...]:
    """What runs the replay, of the word for it.

    Raises
    ------
    MayflyError
        No such word.
    """
    if name not in ENGINES:
        raise MayflyError(f"engine = {name}: must be one of {', '.join(ENGINES)}")
    return ENGINES[name]


def verify(
    folder: str | os.PathLike[str],
    workloads: Sequence[str] | None = None,
    disciplines: Sequence[str] = DISCIPLINES,
    sources: Sequence[str] = SOURCES,
    *,
    seed: int = 1,
    seeds: int = SEEDS,
    engines: Sequence[str] = ("simulator",),
    replay: str = "users",
    progress: Progress | None = None,
) -> Verification:
    """Runs real programs, predicts, and compares.

    Parameters
    ----------
    folder : path
        For what was measured: a folder for each workload and discipline. What is there is not run again.
    workloads : sequence of str, optional
        Of :data:`mayfly.verify.workloads.WORKLOADS`; all when not given.
    disciplines, sources : sequence of str
        What is predicted, and from captures of what.
    seed : int
        Of the users, 0 or more.
    seeds : int
        Of the replay, at least 1.
    engines : sequence of str
        What runs the replay: ``simulator``, ``linux``.
    replay : str
        What is replayed (:data:`mayfly.workload.replayed.FORMS`).
    progress : callable, optional
        Called with the fraction done.

    Returns
    -------
    Verification

    Raises
    ------
    MayflyError
        A name there is not, a value out of its bounds, no test kernel, a program that is not installed.
    """
    named = [workload.id for workload in WORKLOADS] if workloads is None else list(workloads)
    for name in named:
        if name not in BY_ID:
            raise MayflyError(f"workload = {name}: must be one of {', '.join(BY_ID)}")
    if seeds < 1:
        raise MayflyError(f"seeds = {seeds}: must be at least 1")
    missing = [source for source in sources if source not in disciplines]
    if missing:
        raise MayflyError(f"from = {missing[0]}: must be one of the disciplines: {', '.join(disciplines)}")
    found = Verification(seed=seed, seeds=seeds)
    steps = len(named) * (len(disciplines) + len(sources) * len(engines))
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done / steps)

    for name in named:
        workload = BY_ID[name]
        ran: dict[str, real.Ran] = {}
        for discipline in disciplines:
            ran[discipline] = real.run(workload, discipline, seed, Path(folder) / f"{name}-{discipline}-{seed}")
            step()
        found.kernel = next(iter(ran.values())).kernel
        reality = {one: measured(one, own.steps, own.drops) for one, own in ran.items()}
        for source in sources:
            for engine in engines:
                runs = predicted(
                    workload, ran[source], disciplines, replay, range(1, seeds + 1), engine, None, found.accounts
                )
                _compare(found, name, source, engine, reality, runs, ran)
                step()
    return found


def _compare(
    found: Verification,
    name: str,
    source: str,
    engine: str,
    reality: dict[str, Outcome],
    runs: Sequence[dict[str, Outcome]],
    ran: dict[str, real.Ran],
) -> None:
    asked = asked_of(ran[source].steps)
    keys = set(asked.bytes)
    for outcome in (*reality.values(), *(one for run in runs for one in run.values())):
        keys &= outcome.steps_s.keys()
    measured_rows = {one: felt_row(one, [outcome], asked, keys) for one, outcome in reality.items()}
    predicted_rows = {one: felt_row(one, [run[one] for run in runs], asked, keys) for one in reality}
    for target, outcome in reality.items():
        own = [run[target] for run in runs]
        two = dict.fromkeys((source, target))
        better, guess = (_best([rows[one] for one in two]) for rows in (measured_rows, predicted_rows))
        found.pairs.append(Pair(name, source, target, engine, figures(outcome, own, asked), better, guess))
    best, recommended = (_best(list(rows.values())) for rows in (measured_rows, predicted_rows))
    found.choices.append(Choice(name, source, engine, best, recommended))


def _best(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The discipline that the rule takes, first, and those as good."""
    best, equal = chosen(rows)
    return [best["label"], *(row["label"] for row in equal)]


def write(found: Verification, folder: str | os.PathLike[str]) -> Path:
    """Writes ``summary.json`` and returns its path."""
    path = Path(folder) / "summary.json"
    part = path.with_suffix(".part")
    part.write_text(json.dumps(found.document(), indent=1) + "\n", encoding="utf-8")
    part.rename(path)
    return path


def learn(found: Verification, path: str | os.PathLike[str]) -> Path:
    """Writes the errors of the simulator's replay, for :mod:`mayfly.comparison.prediction_error`."""
    own = errors([pair for pair in found.pairs if pair.engine == "simulator"])
    lines = ["# Made by `mayfly verify --learn`: see docs/verification.md."]
    for kind, row in own.items():
        if row["median"] is not None and row["p90"] is not None:
            lines += ["", f"[{kind}]", f"median = {row['median']:.3f}", f"p90 = {row['p90']:.3f}"]
    target = Path(path)
    part = target.with_suffix(".part")
    part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    part.rename(target)
    return target


def worst(pairs: Sequence[Pair], count: int) -> list[tuple[Pair, Figure]]:
    """Figures that are out, those furthest beyond what is asked for first."""
    out = [(pair, one) for pair in pairs for one in pair.figures if one.state == "out"]
    return sorted(out, key=lambda row: -(abs(row[1].predicted - row[1].real) - row[1].half) / (row[1].room or 1e-9))[
        :count
    ]
