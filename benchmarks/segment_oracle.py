"""Linux, segment by segment: what the kernel and the simulator send on the same losses, delays and marks.

``record TRACES`` leads the patterns through the guest, ``compare TRACES`` through the simulator of the checkout whose
Python runs this, ``write TRACES PAGE`` puts the tables of the comparison into a page, ``show TRACES PATTERN`` prints
what the kernel did.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from page_parts import put

from mayfly.engines.segments import compared, page, shown, traces
from mayfly.engines.segments.patterns import patterns
from mayfly.errors import MayflyError
from mayfly.scenario.overrides import merged

NAME = "benchmarks/segment_oracle.py"

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def record(
    path: Annotated[Path, typer.Argument(help="File of traces that is written; compressed with .gz")],
    only: Annotated[str, typer.Option(help="Patterns whose id this regular expression finds")] = "",
) -> None:
    """Lead the patterns through the kernel."""
    chosen = [pattern for pattern in patterns() if re.search(only, pattern.id)]
    traces.write(path, chosen)
    print(f"{len(chosen)} patterns in {path}")


@app.command()
def show(
    path: Annotated[Path, typer.Argument(help="File of traces")],
    only: Annotated[str, typer.Argument(help="Patterns whose id this regular expression finds")],
    states: Annotated[bool, typer.Option(help="The sender's tcp_info between the packets")] = True,
) -> None:
    """Print traces of the kernel."""
    for trace in traces.read(path):
        if re.search(only, trace.id):
            print("\n".join(shown.lines(trace, states)))


@app.command()
def compare(
    path: Annotated[Path, typer.Argument(help="File of traces")],
    only: Annotated[str, typer.Option(help="Patterns whose id this regular expression finds")] = "",
    shows: Annotated[int, typer.Option("--show", help="So many patterns that differ, side by side")] = 0,
    listed: Annotated[bool, typer.Option("--list", help="Every pattern that differs, a line each")] = False,
    changes: Annotated[list[str], typer.Option("--set", help="Setting of the transport: tcp.FIELD=VALUE")] = [],  # noqa: B006
    spread: Annotated[int, typer.Option(help="Events shown behind the first difference")] = 24,
) -> None:
    """Lead the patterns through the simulator, and tell where it differs from the kernel."""
    fields = {name.removeprefix("tcp."): value for name, value in merged(changes, {}).items()}
    chosen = (trace for trace in traces.read(path) if re.search(only, trace.id))
    found = [compared.compared(trace, fields) for trace in chosen]
    print(rates(found))
    differing = [one for one in found if not one.in_time]
    for one in differing if listed else ():
        print(f"{one.trace.id}: {one.kind()}, worst time {one.worst_ns / 1e6:.3f} ms")
    for one in differing[:shows]:
        print("\n" + "\n".join(compared.side_by_side(one, behind=spread)))


@app.command()
def sample(
    path: Annotated[Path, typer.Argument(help="File of traces")],
    target: Annotated[Path, typer.Argument(help="File that is written, compressed")],
    every: Annotated[int, typer.Option(help="Of each clause every so-many-eth pattern")] = 30,
) -> None:
    """Keep a few traces of each clause, without the states, as tests have them."""
    seen: Counter[str] = Counter()
    with traces.opened(path, "r", path.suffix == ".gz") as lines, gzip.open(target, "wt") as file:
        for row in map(json.loads, lines):
            clause = row["pattern"]["clause"]
            if seen[clause] % every == 0:
                file.write(json.dumps({**row, "states": []}, separators=(",", ":")) + "\n")
            seen[clause] += 1


def rates(found: Iterable[compared.Comparison]) -> str:
    """Patterns, those equal, and of those the ones in time: by congestion control, options and clause."""
    counts: Counter[tuple[str, str]] = Counter()
    for one in found:
        for row in (one.trace.id.rsplit("/", 1)[0], one.trace.pattern["congestion"], "all"):
            counts[row, "patterns"] += 1
            counts[row, "equal"] += one.equal
            counts[row, "in time"] += one.in_time
    rows = dict.fromkeys(sorted({row for row, _ in counts}))
    lines = [f"{'':<48} patterns  equal  in time"]
    lines += [
        f"{row:<48} {counts[row, 'patterns']:>8} {counts[row, 'equal']:>6} {counts[row, 'in time']:>8}" for row in rows
    ]
    return "\n".join(lines)


@app.command()
def write(
    path: Annotated[Path, typer.Argument(help="File of traces")],
    target: Annotated[Path, typer.Argument(help="Page whose tables are replaced")],
) -> None:
    """Compare all patterns of a file, and put the tables into a page."""
    put(target, NAME, page.markdown([compared.compared(trace) for trace in traces.read(path)]))


if __name__ == "__main__":
    try:
        app()
    except MayflyError as error:
        raise SystemExit(f"segment_oracle: {error}") from None
