"""Kernel and simulator on the same flows: class means, drops and shares of both, over five seeds.

``record FILE`` runs what FILE has not yet in the kernel (that of ``MAYFLY_KERNEL``), ``simulate FILE`` in the
simulator, ``compare KERNEL SIMULATOR`` prints the rows, ``write PAGE SIMULATOR KERNEL...`` puts them into a page. Files
have a line per run.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import polars as pl
import typer
from page_parts import put

from mayfly import load_scenario
from mayfly.discipline_registry import parse
from mayfly.engines import guest, linux
from mayfly.errors import MayflyError
from mayfly.metrics.intervals import student_t
from mayfly.metrics.size_classes import classes
from mayfly.scenario.overrides import merged
from mayfly.scenario.scenario import Scenario, scenario_of
from mayfly.simulate.isolated import PathsAlone
from mayfly.simulate.run import RunResult, run_one, workload
from mayfly.workload.lists import ENDLESS_BYTES, flow_list

NAME = "benchmarks/engine_agreement.py"
SEEDS = range(1, 6)
MEANS, DROPS = 0.05, 0.10
"""How far the kernel may be from the simulator, as a share."""

HOSTS: dict[str, Any] = {
    "tcp.preset": "linux",
    "tcp.recovery": "linux",
    "tcp.fin_on_data": True,
    "tcp.tick": 1 / guest.HZ,
    "sample_interval": "1s",
}
"""Hosts as the guest has them."""

LINKS: dict[str, Any] = {
    **{"network.rate": "10mbit", "network.delay": "18ms", "network.buffer": 100, "network.access_rate": "100mbit"},
    **{"network.access_delay": "1ms", "network.exit_delay": "1ms"},
}
"""40 ms of round-trip time."""

MIXED = [
    {"flows": 2, "users": 2, "spread": "1s", "transport": name, "group": name} for name in ("cubic", "reno", "bbr")
]

OURS = ("las", "efd", "lfq", "lars", "run2c", "pefd", "lasack", "efdack", "run2cack", "estmred")
THEIRS = ("fifo", "fq_codel", "cake", "red", "pie", "sfq", "fq", "codel", "fq_pie", "choke")


@dataclass(frozen=True)
class Case:
    """A workload on a link.

    Parameters
    ----------
    title : str
    fields : dict
        Of the scenario, besides `HOSTS`.
    disciplines : tuple of str
    quantities : tuple of str
        Names of `QUANTITIES`; ``share GROUP`` for each group of endless flows.
    flows : callable, optional
        The flow list of a seed, in place of the scenario's workload.
    wired : bool
        Whether the fields change the scenario ``wired``.
    """

    title: str
    fields: dict[str, Any]
    disciplines: tuple[str, ...]
    quantities: tuple[str, ...]
    flows: Callable[[Scenario], pl.DataFrame] | None = None
    wired: bool = False

    def of(self, seed: int, changes: dict[str, Any]) -> tuple[Scenario, pl.DataFrame]:
        """Scenario and flows of a seed."""
        fields = {**self.fields, **HOSTS, "seed": seed, **changes}
        scenario = load_scenario("wired", fields) if self.wired else scenario_of(nested(fields), self.title)
        return scenario, self.flows(scenario) if self.flows else workload(scenario, 0)


def nested(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields by dotted name as a document.

    Examples
    --------
    >>> nested({"seed": 1, "tcp.mss": 1448, "tcp.tick": 0.01})
    {'seed': 1, 'tcp': {'mss': 1448, 'tick': 0.01}}
    """
    found: dict[str, Any] = {}
    for name, value in fields.items():
        *sections, last = name.split(".")
        place = found
        for section in sections:
            place = place.setdefault(section, {})
        place[last] = value
    return found


OBJECTS, GAP_S, BROWSERS = 6, 5.0, 10
"""Of the pages: transfers that begin together, and seconds between two pages of each of so many users."""


def pages(scenario: Scenario) -> pl.DataFrame:
    """Pages whose transfers begin together, all of a page that the kernel engine has, beside two bulk ones."""
    draw = np.random.default_rng(scenario.seed)
    count = int(scenario.duration / GAP_S) - 2
    rows = [{"start_s": 0.1 * k, "size_bytes": ENDLESS_BYTES, "group": "bulk", "src": BROWSERS + k} for k in range(2)]
    for user in range(BROWSERS):
        starts = np.cumsum(draw.exponential(GAP_S, count))
        for start in starts[starts < scenario.duration - 2 * GAP_S]:
            sizes = np.minimum(np.ceil(8 * (draw.pareto(1.5, OBJECTS) + 1)), 2000).astype(int)
            rows += [
                {
                    "start_s": float(start),
                    "size_bytes": int(size) * scenario.tcp.mss,
                    "group": f"page {user} {start:.6f}",
                    "src": user,
                }
                for size in sizes
            ]
    return flow_list(pl.DataFrame(rows).with_columns(dst=pl.col("src")), mss=scenario.tcp.mss)


CASES: dict[str, Case] = {
    "wired": Case(
        "Table 4.2: transfers of the wired scenario of Chen 2012, 100 s",
        {"duration": "100s"},
        (*THEIRS, *OURS),
        ("short, s", "long, s", "drops"),
        wired=True,
    ),
    "permanent": Case(
        "Flows without end: 8 beside 4 senders of 0.5 Mbit/s, 60 s",
        {
            **LINKS,
            **{"duration": "70s", "warm_up": "10s"},
            "workload": {
                **{"senders": 12, "receivers": 12},
                "permanent": [{"flows": 8, "spread": "2s", "group": "tcp"}],
                "cbr": [{"rate": "500kbit", "packet": 1000, "flows": 4, "spread": "2s", "group": "cbr"}],
            },
        },
        ("fifo", "fq_codel", "cake", "las", "efd", "lfq", "red", "pie"),
        ("share tcp", "share cbr", "drops"),
    ),
    "mixture": Case(
        "CUBIC, Reno and BBR: two flows without end each, 60 s",
        {
            **LINKS,
            **{"duration": "60s", "transports.cubic.congestion": "cubic", "transports.reno.congestion": "aimd"},
            **{"transports.bbr.congestion": "bbr", "workload": {"permanent": MIXED}},
        },
        ("fifo", "fq_codel", "cake", "las", "efd", "lfq", "red", "pie"),
        ("share cubic", "share reno", "share bbr", "drops"),
    ),
    "pages": Case(
        "Pages of 6 transfers that begin together, beside two bulk transfers, 60 s",
        {**LINKS, "duration": "60s", "workload": {"load": "1mbit"}},
        ("fifo", "fq_codel", "cake", "las", "efd", "lfq", "red", "pie"),
        ("page, s", "share bulk", "drops"),
        pages,
    ),
}

Row = dict[str, Any]


def row_of(case: str, discipline: str, seed: int, run: RunResult, kernel: str) -> Row:
    """A run as its line."""
    own = run.records.select(
        "flow_id", "size_bytes", "protocol", "group", "finish_s", "response_time_s", "delivered_bytes", "drops"
    )
    return {
        **{"case": case, "discipline": discipline, "seed": seed, "kernel": kernel},
        "counters": {name: run.counters[name] for name in ("drops", "marks", "queue_mean_packets", "utilisation")},
        "flows": own.with_columns(pl.col("finish_s", "response_time_s").round(6)).to_dict(as_series=False),
    }


def read(path: Path) -> dict[tuple[str, str, int], Row]:
    """The runs of a file by case, discipline and seed; a later one takes the place of one before."""
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines()) if path.exists() else ()
    return {(row["case"], row["discipline"], row["seed"]): row for row in rows}


def wanted(only: str) -> Iterator[tuple[str, str, int]]:
    """Runs whose ``case/discipline`` the regular expression finds: all of a discipline before the next."""
    for name, case in CASES.items():
        for discipline in case.disciplines:
            if re.search(only, f"{name}/{discipline}"):
                yield from ((name, discipline, seed) for seed in SEEDS)


def fill(path: Path, only: str, jobs: int, one: Callable[[str, str, int], Row]) -> None:
    """Runs what the file has not; each line is written when its run ends."""
    have = read(path)
    missing = [key for key in wanted(only) if key not in have]
    with path.open("a", encoding="utf-8") as file, ThreadPoolExecutor(jobs) as pool:
        pending = {pool.submit(one, *key): key for key in missing}
        for done in as_completed(pending):
            try:
                row = done.result()
            except MayflyError as error:
                print(f"{' '.join(map(str, pending[done]))}: {error}", file=sys.stderr)
                continue
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
            file.flush()


# What is compared.


@dataclass(frozen=True)
class Pair:
    """The two runs of a seed."""

    here: Row
    kernel: Row

    def flows(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Flows of both, row by row the same."""
        here, kernel = (pl.DataFrame(run["flows"], infer_schema_length=None) for run in (self.here, self.kernel))
        if here["size_bytes"].to_list() != kernel["size_bytes"].to_list():
            raise MayflyError(f"{self.here['case']}, seed {self.here['seed']}: the two files are of other flows")
        return here, kernel


def class_mean(name: str) -> Callable[[Pair], tuple[float, float]]:
    """Mean response time of the short or of the long, of those that ended on both sides."""

    def means(pair: Pair) -> tuple[float, float]:
        here, kernel = pair.flows()
        both = here["finish_s"].is_not_null() & kernel["finish_s"].is_not_null()
        here, kernel = here.filter(both), kernel.filter(both)
        chosen = classes(here) == name
        return mean_of(here.filter(chosen)["response_time_s"]), mean_of(kernel.filter(chosen)["response_time_s"])

    return means


def mean_of(values: pl.Series) -> float:
    return float(values.to_numpy().mean())


def drops(pair: Pair) -> tuple[float, float]:
    """Packets that the bottleneck dropped."""
    return pair.here["counters"]["drops"], pair.kernel["counters"]["drops"]


def share(group: str) -> Callable[[Pair], tuple[float, float]]:
    """What the flows of a group delivered, MB."""

    def delivered(pair: Pair) -> tuple[float, float]:
        here, kernel = (flows.filter(pl.col("group") == group)["delivered_bytes"].sum() for flows in pair.flows())
        return here / 1e6, kernel / 1e6

    return delivered


def page_mean(pair: Pair) -> tuple[float, float]:
    """Mean time to the last transfer of a page, of pages that ended on both sides."""
    both = []
    for flows in pair.flows():
        of_pages = flows.filter(pl.col("group").str.starts_with("page"))
        whole = of_pages.group_by("group").agg(
            pl.col("response_time_s").max(), done=pl.col("finish_s").is_not_null().all()
        )
        both.append(whole.filter("done"))
    joined = both[0].join(both[1], on="group")
    return mean_of(joined["response_time_s"]), mean_of(joined["response_time_s_right"])


def quantity(name: str) -> tuple[Callable[[Pair], tuple[float, float]], float]:
    """How it is measured, and how far apart the two may be."""
    word, _, rest = name.partition(" ")
    match word:
        case "drops":
            return drops, DROPS
        case "page,":
            return page_mean, MEANS
        case "share":
            return share(rest), MEANS
    return class_mean(word.rstrip(",")), MEANS


@dataclass(frozen=True)
class Agreement:
    """A quantity on both sides.

    Parameters
    ----------
    here, kernel : float
        Means over the seeds.
    ratio, half : float
        The kernel's over the simulator's, and half its 95 % interval over pairs of runs.
    bound : float
        How far from 1 the ratio may be.
    """

    here: float
    kernel: float
    ratio: float
    half: float
    bound: float

    @property
    def verdict(self) -> str:
        """``in``; ``open``: outside, but the interval reaches inside; ``out``."""
        off = abs(self.ratio - 1)
        if off <= self.bound:
            return "in"
        return "open" if off - self.half <= self.bound else "out"


def agreement(values: Sequence[tuple[float, float]], bound: float) -> Agreement:
    """What runs in pairs say of a quantity.

    Parameters
    ----------
    values : sequence of pair of float
        Simulator's and kernel's, a pair for each seed.
    bound : float
        How far from 1 the ratio may be.

    Returns
    -------
    Agreement
        Without a simulator's value above 0 the ratio is infinite, or 1 where the kernel has none either.

    Notes
    -----
    The ratio is that of the means. Its interval is Student's of ``(k - r s) / mean(s)``: the error of a ratio of means
    to the first order (Cochran 1977, 6.3).

    Examples
    --------
    >>> found = agreement([(1.0, 1.1), (2.0, 2.2)], 0.05)
    >>> round(found.ratio, 3), round(found.half, 3), found.verdict
    (1.1, 0.0, 'out')
    >>> agreement([(1.0, 0.9), (2.0, 2.5)], 0.05).verdict
    'open'
    """
    here, kernel = np.array(values, dtype=float).T
    if not here.mean():
        return Agreement(0.0, float(kernel.mean()), float("inf") if kernel.mean() else 1.0, 0.0, bound)
    ratio = float(kernel.mean() / here.mean())
    spread = (kernel - ratio * here) / here.mean()
    half = (
        student_t(len(values) - 1) * float(spread.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    )
    return Agreement(float(here.mean()), float(kernel.mean()), ratio, half, bound)


def agreements(
    here: dict[tuple[str, str, int], Row], kernel: dict[tuple[str, str, int], Row]
) -> Iterator[tuple[str, str, int, list[tuple[str, Agreement]]]]:
    """Case, discipline and what they agree on, of all that both files have."""
    for name, case in CASES.items():
        for discipline in case.disciplines:
            keys = [(name, discipline, seed) for seed in SEEDS]
            pairs = [Pair(here[key], kernel[key]) for key in keys if key in here and key in kernel]
            if not pairs:
                continue
            found = []
            for what in case.quantities:
                measure, bound = quantity(what)
                found.append((what, agreement([measure(pair) for pair in pairs], bound)))
            yield name, discipline, len(pairs), found


MARKS = {"in": "", "open": " ?", "out": " **out**"}


def cell(found: Agreement) -> str:
    """The simulator's value, the kernel's, and their ratio."""
    digits = ".0f" if max(found.here, found.kernel) >= 100 else ".3g"
    half = f" ± {100 * found.half:.0f}" if math.isfinite(found.half) else ""
    off = f"{100 * (found.ratio - 1):+.0f}{half} %".replace("-", "−")
    return f"{found.here:{digits}} / {found.kernel:{digits}} ({off}){MARKS[found.verdict]}"


def table(here: dict[tuple[str, str, int], Row], kernel: dict[tuple[str, str, int], Row]) -> str:
    """The rows of every case, and how many quantities are in."""
    parts: list[str] = []
    counts = dict.fromkeys(MARKS, 0)
    before = ""
    for name, discipline, seeds, found in agreements(here, kernel):
        if name != before:
            case, before = CASES[name], name
            heads = " | ".join(case.quantities)
            parts.append(f"\n{case.title}:\n\n| discipline | {heads} |\n|---|{'---:|' * len(case.quantities)}")
        for _, one in found:
            counts[one.verdict] += 1
        label = f"`{discipline}`" + ("" if seeds == len(SEEDS) else f", seeds: {seeds}")
        parts.append(f"| {label} | {' | '.join(cell(one) for _, one in found)} |")
    total = sum(counts.values())
    told = f"{counts['in']} of {total} quantities in, {counts['open']} outside with an interval that reaches inside "
    told += f"(`?`), {counts['out']} **out**."
    return told + "\n" + "\n".join(parts)


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
Only = Annotated[str, typer.Option(help="Runs whose case/discipline this regular expression finds")]
Jobs = Annotated[int, typer.Option(help="Runs at once")]
Changes = Annotated[list[str], typer.Option("--set", help="Field of the scenario: tcp.FIELD=VALUE")]


@app.command()
def record(
    path: Annotated[Path, typer.Argument(help="File of runs, which grows")], only: Only = "", jobs: Jobs = 1
) -> None:
    """Run the flows in the kernel."""

    def one(case: str, discipline: str, seed: int) -> Row:
        scenario, flows = CASES[case].of(seed, {})
        linux.refuse(scenario)
        linux.refuse_flows(scenario, flows)
        run, release = linux.run_one(scenario, parse(discipline), flows, 0, PathsAlone())
        return row_of(case, discipline, seed, run, release)

    fill(path, only, jobs, one)


@app.command()
def simulate(
    path: Annotated[Path, typer.Argument(help="File of runs, which grows")],
    only: Only = "",
    jobs: Jobs = 1,
    changes: Changes = [],  # noqa: B006
) -> None:
    """Run the flows in the simulator."""
    fields = merged(changes, {})

    def one(case: str, discipline: str, seed: int) -> Row:
        scenario, flows = CASES[case].of(seed, fields)
        return row_of(case, discipline, seed, run_one(scenario, parse(discipline), flows), "")

    fill(path, only, jobs, one)


@app.command()
def compare(kernel: Path, here: Path) -> None:
    """Print the rows of two files."""
    print(table(read(here), read(kernel)))


@app.command()
def write(page: Path, here: Path, kernels: list[Path]) -> None:
    """Put the rows into a page, kernel by kernel."""
    parts = []
    runs = read(here)
    for path in kernels:
        found = read(path)
        release = next(iter(found.values()))["kernel"]
        parts.append(f"### Linux {release}\n\n{table(runs, found)}")
    put(page, NAME, "\n\n".join(parts))


if __name__ == "__main__":
    try:
        app()
    except MayflyError as error:
        raise SystemExit(f"engine_agreement: {error}") from None
