"""Tables of runs that are large: rates, flows alive, streams, captures by several processes.

Each function returns a section of Markdown for benchmarks/performance.py. There is no peer in them; what a run must
give is checked, and a `RuntimeError` says what differs.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import scale
from processes import HERE, Spent, spent

ROOT = HERE.parent
MAYFLY = ROOT / ".venv/bin/mayfly"
DISCIPLINES = "fifo", "fq_codel", "efd", "las", "cake"
ALIVE = 10, 1000, 10_000, 100_000, 1_000_000
TEN_PACKETS = "workload.minimum=1", "workload.mean=10"
"""Sizes with which `wired` has 67 transfers a second of ten packets in the mean."""
A_SECOND = 66.66
SHORT_RUNS = 2
"""Runs of a cell of which the least counts; of a million flows one."""


def per_hop(cell: scale.Cell, runs: int) -> tuple[float, float]:
    """Nanoseconds of CPU time per hop, and bytes per flow beyond the list, of the run that took least."""
    row = scale.least([scale.SIMULATOR], cell, runs)[0]
    return row["ns_per_hop"], (row["peak_bytes"] - row["list_bytes"]) / cell[2]


def rates() -> list[str]:
    """From 10 Mb/s to 100 Gb/s: what a hop costs, and what a flow takes."""
    text = [
        "## From 10 Mb/s to 100 Gb/s",
        "",
        "The simulator alone with selective acknowledgements and CUBIC, windows of 4 BDP: nanoseconds of CPU time per"
        " hop of a packet, and in the last column bytes per flow at 100 Gb/s, beyond the flow list.",
        "",
    ]
    for kind, flows, title in (
        ("short", 100_000, "10^5 transfers of 30 packets"),
        ("permanent", 1000, "1,000 endless flows"),
    ):
        text += [f"| {title} | {' | '.join(scale.RATES)} | last by first | bytes per flow |"]
        text += ["|---|" + "---:|" * (len(scale.RATES) + 2)]
        for discipline in DISCIPLINES:
            found = [
                per_hop((kind, rate, flows, "equal", scale.four_bdp(rate), discipline), SHORT_RUNS)
                for rate in scale.RATES.values()
            ]
            ns = [each[0] for each in found]
            cells = " | ".join(f"{value:.0f}" for value in ns)
            text.append(f"| `{discipline}` | {cells} | {ns[-1] / ns[0]:.2f} | {found[-1][1]:,.0f} |")
        text.append("")
    return text


def alive() -> list[str]:
    """From ten flows alive to a million: what a hop costs, and what a flow takes."""
    text = [
        "## From ten flows alive to a million",
        "",
        "Endless flows at 1 Gb/s, window 1,024, the same round-trip time for all or one of 20 to 200 ms each:"
        " nanoseconds of CPU time per hop. Bytes per flow are of a million flows, beyond the list.",
        "",
        f"| | RTT | {' | '.join(f'{count:,}' for count in ALIVE)} | last by first | bytes per flow |",
        "|---|---|" + "---:|" * (len(ALIVE) + 2),
    ]
    for discipline in ("fifo", "fq_codel", "efd"):
        for rtts in ("equal", "spread"):
            found = [
                per_hop(("permanent", 1e9, count, rtts, 1024, discipline), SHORT_RUNS if count < ALIVE[-1] else 1)
                for count in ALIVE
            ]
            ns = [each[0] for each in found]
            cells = " | ".join(f"{value:.0f}" for value in ns)
            text.append(f"| `{discipline}` | {rtts} | {cells} | {ns[-1] / ns[0]:.2f} | {found[-1][1]:,.0f} |")
    return [*text, ""]


def run_of(flows: float, discipline: str, *options: object) -> list[object]:
    """Command of so many transfers, about, of ten packets in the mean."""
    settings = [word for setting in TEN_PACKETS for word in ("--set", setting)]
    head = [MAYFLY, "simulate", "wired", "--discipline", discipline, *settings]
    return [*head, "--duration", f"{flows / A_SECOND:.0f}s", *options, "--out", "stream", "--json"]


def row_of(title: str, done: Spent) -> tuple[str, float]:
    """A row of a table of streams, and the mean response time, s."""
    told = json.loads(done.printed)["disciplines"][0] if "disciplines" in done.printed else json.loads(done.printed)
    flows = told["flows_completed"]
    mean_s = sum(told[part]["mean_s"] * told[part]["flows"] for part in ("short", "long")) / flows
    took = f"{done.cpu_s:.1f} | {done.cpu_s / flows * 1e6:.2f} | {done.memory_bytes / 1e6:,.0f} MB"
    return f"| {title} | {flows:,} | {took} | {mean_s:.4f} |", mean_s


HEAD = (
    "| | transfers that ended | CPU s | us per transfer | memory | mean response time, s |",
    "|---|---:|---:|---:|---:|---:|",
)


def streams(folder: Path) -> list[str]:
    """A million and ten million transfers by packets, a hundred million without."""
    rows, means = [], {}
    cases: dict[str, tuple[float, str, tuple[object, ...]]] = {
        "`--no-stream`": (1e6, "fifo", ("--no-stream",)),
        "`--stream`": (1e6, "fifo", ("--stream",)),
        "`--stream --no-flows`": (1e7, "fifo", ("--stream", "--no-flows")),
        "`--engine fluid --no-flows`, `fifo`": (1e8, "fifo", ("--engine", "fluid", "--no-flows")),
        "`--engine fluid --no-flows`, `las`": (1e8, "las", ("--engine", "fluid", "--no-flows")),
    }
    for title, (flows, discipline, options) in cases.items():
        row, means[title] = row_of(title, spent(run_of(flows, discipline, *options), folder))
        rows.append(row)
    listed, streamed = means["`--no-stream`"], means["`--stream`"]
    if abs(listed / streamed - 1) > 1e-9:
        raise RuntimeError(f"mean response time of the list {listed}, of the stream {streamed}: must be the same")
    return [
        "## A hundred million transfers",
        "",
        "`wired` with transfers of ten packets in the mean. A stream keeps the transfers that are alive and sketches"
        " of those that ended; the list and the stream of the same million must give the same mean. `--engine fluid`"
        " has no packets ([](how-to/streams.md#without-packets-the-fluid-engine)).",
        "",
        *HEAD,
        *rows,
        "",
        "```sh",
        " ".join(str(word) for word in ["mayfly", *run_of(1e7, "fifo", "--stream", "--no-flows")[1:]]),
        "```",
        "",
    ]


def hundred_million(folder: Path) -> list[str]:
    """A hundred million transfers by packets, in one process."""
    command = run_of(1e8, "fifo", "--stream", "--no-flows")
    row, _ = row_of("`--stream --no-flows`", spent(command, folder))
    return [
        "## A hundred million transfers, packet by packet",
        "",
        *HEAD,
        row,
        "",
        "```sh",
        " ".join(str(word) for word in ["mayfly", *command[1:]]),
        "```",
        "",
        "`python benchmarks/performance.py --only hundred-million`.",
        "",
    ]


def workers(folder: Path, capture: Path) -> list[str]:
    """A capture by one process, and by shards read by one and by two."""
    cases: dict[str, list[object]] = {"one process, no shards": [], "`--workers 1`": ["--workers", 1]}
    cases["`--workers 2`"] = ["--workers", 2]
    least: dict[str, Spent] = {}
    found: dict[str, int] = {}
    for _ in range(SHORT_RUNS):
        for name, options in cases.items():
            command = [MAYFLY, "profile", capture.name, "--connections", *options, "--out", "sharded", "--json"]
            done = spent(command, folder)
            least[name] = min(least.get(name, done), done, key=lambda each: each.cpu_s)
            found[name] = json.loads(done.printed)["dataset"]["tcp"]
    if len({*found.values()}) != 1:
        raise RuntimeError(f"TCP connections of {capture.name}: {found}: must be the same")
    return ["## Captures by several processes", "", *_workers(least, found), ""]


def _workers(least: dict[str, Spent], found: dict[str, int]) -> Iterator[str]:
    """The table, and what it is of."""
    yield "`mayfly profile --connections` on the capture of four million packets. Other work on the machine makes the"
    yield "time on the clock longer."
    yield ""
    yield "| | CPU s | on the clock, s | memory of the largest process | TCP connections |"
    yield "|---|---:|---:|---:|---:|"
    for name, done in least.items():
        memory = f"{done.memory_bytes / 1e6:,.0f} MB"
        yield f"| {name} | {done.cpu_s:.2f} | {done.clock_s:.2f} | {memory} | {found[name]:,} |"
