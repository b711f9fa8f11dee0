"""CPU time and memory of each command at its usual input and at 10, 100 and 1000 times it.

    python benchmarks/commands.py [--only WORD] [--largest 1000] [--write docs/performance.md]

A command whose cost grows faster than its input stands out: the last column is the exponent of CPU time between the two
largest inputs, 1 where ten times the input takes ten times as long. CPU time is user and system time of the whole
process, memory its largest resident set. A run is one: growth by a factor is looked for, not a hundredth. `--write`
puts the table into a page, between the comments that name this file.
"""

import json
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import captures
import polars as pl
import typer
from page_parts import put
from processes import HERE, spent

ROOT = HERE.parent
MAYFLY = ROOT / ".venv/bin/mayfly"
OFFICE = ROOT / "captures/office.pcap.gz"
NAME = "benchmarks/commands.py"
SCALES = 1, 10, 100, 1000
PATIENCE_S = 250.0
"""A larger input is not tried where the last run took more CPU time than a tenth of this, s."""
MOST_S = 660.0
"""A larger input is not tried where it could end later than this on the clock, s."""
STEEP = 1.2
"""Exponents above are in bold."""


@dataclass(frozen=True)
class Command:
    """What is run at a scale: `unit` names its usual input, `line` makes the command, and its files, at a scale."""

    name: str
    unit: str
    line: Callable[[Path, int], list[object]]


def capture(folder: Path, scale: int) -> Path:
    """The first thousand packets of the office capture at the usual scale; beyond its end copies of it."""
    path = folder / f"packets-{scale}.pcap"
    if not path.exists():
        if scale <= 10:
            beginning(path, 1000 * scale)
        else:
            captures.repeated([OFFICE], 1000 * scale, path)
    return path


def beginning(path: Path, packets: int) -> None:
    """The first packets of the office capture."""
    with path.open("wb") as out:
        out.write(captures.HEADER.pack(0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for time_us, frame, original in captures.records(OFFICE)[:packets]:
            seconds, fraction = divmod(time_us, 1_000_000)
            out.write(captures.RECORD.pack(seconds, fraction, len(frame), original) + frame)


def flows(folder: Path, scale: int) -> Path:
    """A flow list: a hundred transfers of a lognormal law at the usual scale, one each 60 ms."""
    path = folder / f"flows-{scale}.csv"
    if not path.exists():
        draw = random.Random(1)
        count = 100 * scale
        sizes = [max(1, round(draw.lognormvariate(9.0, 1.5))) for _ in range(count)]
        pl.DataFrame({"start_s": [0.06 * k for k in range(count)], "size_bytes": sizes}).write_csv(path)
    return path


def samples(folder: Path, scale: int) -> Path:
    """Samples of a queue at the usual scale for 10 s, repeated in time."""
    path = folder / f"samples-{scale}.csv"
    if not path.exists():
        rows = 100 * scale
        pl.DataFrame(
            {
                "time_s": [0.1 * (k + 1) for k in range(rows)],
                "queue_packets": [20 + (7 * k) % 13 for k in range(rows)],
                "arrivals": [340 + (k * k) % 29 for k in range(rows)],
                "drops": [(k * 5) % 11 for k in range(rows)],
            }
        ).write_csv(path)
    return path


def circuits(folder: Path, scale: int) -> list[object]:
    """A provider of ten circuits at the usual scale below one site."""
    network, devices = folder / f"network-{scale}.json", folder / f"devices-{scale}.csv"
    if not network.exists():
        count = 10 * scale
        rate = {"downloadBandwidthMbps": 20 * count, "uploadBandwidthMbps": 20 * count}
        network.write_text(json.dumps({"site": rate | {"children": {}}}))
        head = (
            "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,"
            "Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment\n"
        )
        rows = (f"{k},c{k},{k},d{k},site,,10.{k >> 16}.{k >> 8 & 255}.{k & 255},,10,5,100,20,\n" for k in range(count))
        devices.write_text(head + "".join(rows))
    return [network, "--devices", devices]


def runs_to_compare(folder: Path, scale: int) -> list[object]:
    """Two runs with other seeds, made before the clock runs."""
    made = []
    for seed in (1, 2):
        out = folder / f"run-{scale}-{seed}"
        if not out.exists():
            line = [MAYFLY, "simulate", "wired", "--discipline", "efd", "--duration", f"{10 * scale}s", "--seed", seed]
            spent([*line, "--out", out, "--json"], folder)
        made.append(out)
    return made


def sweep(folder: Path, scale: int) -> list[object]:
    """Two runs of 5 s at the usual scale, by seed."""
    path = folder / f"sweep-{scale}.toml"
    path.write_text(f'scenario = "wired"\ndisciplines = "fifo,efd"\nseeds = {scale}\n[set]\nduration = "5s"\n')
    return [path]


def of(command: str, *words: object) -> list[object]:
    """A line of the command, its results in a folder of its own."""
    return [MAYFLY, *command.split(), *words, "--out", "out", "--json"]


NEAR = "--internal", "10.10.0.0/24"
LINK = "--rate", "10mbit", "--buffer", "300", "-n", "1"
FOUR = "fifo,fq_codel,efd,lfq"
COMMANDS = [
    Command("simulate", "10 s of `wired`", lambda _, n: of("simulate wired --discipline efd --duration", f"{10 * n}s")),
    Command(
        "compare",
        "10 s of `wired`, 4 disciplines",
        lambda _, n: of(f"compare wired -d {FOUR} --duration", f"{10 * n}s"),
    ),
    Command(
        "whatif",
        "1,000 packets, 2 disciplines, `-n 1`",
        lambda at, n: of("whatif", capture(at, n), "-d", "fifo,efd", *LINK, *NEAR),
    ),
    Command("profile --connections", "1,000 packets", lambda at, n: of("profile --connections", capture(at, n), *NEAR)),
    Command("profile", "1,000 packets", lambda at, n: of("profile", capture(at, n), *NEAR)),
    Command("diff", "two runs of 10 s", lambda at, n: of("diff", *runs_to_compare(at, n))),
    Command(
        "workload convert",
        "100 transfers",
        lambda at, n: [MAYFLY, "workload", "convert", flows(at, n), at / "converted.parquet", "--json"],
    ),
    Command(
        "workload from",
        "1,000 packets",
        lambda at, n: [MAYFLY, "workload", "from", capture(at, n), *NEAR, "--out", at / "measured.toml", "--json"],
    ),
    Command(
        "model pias",
        "100 sizes",
        lambda at, n: [MAYFLY, "model", "pias", "--flows", flows(at, n), "--load", "0.8", "--json"],
    ),
    Command(
        "estimate",
        "10 s of samples",
        lambda at, n: [MAYFLY, "estimate", samples(at, n), "--rate", "28mbit", "--rtt", "100ms", "--json"],
    ),
    Command(
        "tree",
        "10 circuits, 5 s",
        lambda at, n: of("tree", *circuits(at, n), "-d", "fifo,lfq", "--duration", "5s"),
    ),
    Command("sweep", "2 runs of 5 s", lambda at, n: of("sweep", *sweep(at, n))),
    Command(
        "gaming spaced",
        "10 s, 4 disciplines",
        lambda _, n: of(f"gaming spaced -d {FOUR} --duration", f"{10 * n}s"),
    ),
    Command("flood", "10 s, 4 disciplines", lambda _, n: of(f"flood -d {FOUR} --duration", f"{10 * n}s")),
]
"""One row each. What asks nothing of an input (`model`, `disciplines`, `completion`) or waits for people has none."""


def measured(command: Command, folder: Path, largest: int, left_s: float) -> dict[int, tuple[float, int] | str]:
    """CPU time, s, and memory, bytes, by scale; a string says why a scale has none."""
    found: dict[int, tuple[float, int] | str] = {}
    last = clock = 0.0
    begin = time.monotonic()
    for scale in (scale for scale in SCALES if scale <= largest):
        if last > PATIENCE_S / 10 or 10 * clock > left_s - (time.monotonic() - begin):
            found[scale] = "not run"
            continue
        line = command.line(folder, scale)
        try:
            done = spent(line, folder)
            last, clock = done.cpu_s, done.clock_s
            found[scale] = last, done.memory_bytes
        except RuntimeError as error:
            found[scale] = str(error).removeprefix(f"{MAYFLY} ")
        print(f"{command.name} x {scale}: {found[scale]}", file=sys.stderr, flush=True)
    return found


def exponent(found: dict[int, tuple[float, int] | str]) -> float | None:
    """Of CPU time over input, between the two largest inputs that ran."""
    ran = [(scale, value[0]) for scale, value in found.items() if not isinstance(value, str)]
    if len(ran) < 2:
        return None
    (less, before), (more, after) = ran[-2:]
    return math.log(after / before) / math.log(more / less)


def shown(cpu_s: float, memory: int) -> str:
    """A cell of the table."""
    return f"{cpu_s:.2f} s, {memory / 1e6:.0f} MB"


def rows(largest: int, only: str | None) -> Iterator[str]:
    """The table."""
    scales = [scale for scale in SCALES if scale <= largest]
    yield "| | usual input | " + " | ".join(f"x {scale}" for scale in scales) + " | grows as input to the |"
    yield "|---|---|" + "---:|" * (len(scales) + 1)
    begin = time.monotonic()
    for command in COMMANDS:
        if only is not None and only not in command.name:
            continue
        with tempfile.TemporaryDirectory() as name:
            found = measured(command, Path(name), largest, MOST_S - (time.monotonic() - begin))
        cells = [value if isinstance(value, str) else shown(*value) for value in found.values()]
        power = exponent(found)
        growth = "" if power is None else f"**{power:.2f}**" if power > STEEP else f"{power:.2f}"
        yield f"| `mayfly {command.name}` | {command.unit} | {' | '.join(cells)} | {growth} |"


def main(
    largest: Annotated[int, typer.Option(min=1, help="Largest multiple of the usual input")] = SCALES[-1],
    only: Annotated[str | None, typer.Option(help="Commands whose name has this in it")] = None,
    page: Annotated[Path | None, typer.Option("--write", help="Page whose table is replaced")] = None,
) -> None:
    """Time every command at growing inputs."""
    if only is not None and page is not None:
        raise typer.BadParameter("would leave the page with a part of the table; print it", param_hint="--write")
    table = "\n".join(rows(largest, only))
    text = (
        "CPU time of the whole process and largest resident set, one run each"
        f" ({os.cpu_count()} cores). An exponent above {STEEP} is in bold; *not run*: the scale before took more than"
        f" {PATIENCE_S / 10:.0f} CPU s, or the table {MOST_S / 60:.0f} minutes.\n\n{table}"
    )
    if page is None:
        print(text)
    else:
        put(page, NAME, text)


if __name__ == "__main__":
    typer.run(main)
