"""Linux, segment by segment: what the kernel and the simulator send on the same losses, delays and marks.

python benchmarks/segment_oracle.py record TRACES [--only REGEX]
python benchmarks/segment_oracle.py show TRACES PATTERN
"""

import json
import os
import re
from pathlib import Path
from typing import Annotated

import typer

from mayfly.engines.segments import shown, traces
from mayfly.engines.segments.patterns import patterns

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def record(
    path: Annotated[Path, typer.Argument(help="File of traces that is written; compressed with .gz")],
    only: Annotated[str, typer.Option(help="Patterns whose id this regular expression finds")] = "",
) -> None:
    """Lead the patterns through the kernel."""
    chosen = [pattern for pattern in patterns() if re.search(only, pattern.id)]
    part = path.with_name(f"part-{path.name}")
    with traces.opened(part, "w") as file:
        for row in traces.recorded(chosen):
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
    os.replace(part, path)
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


if __name__ == "__main__":
    app()
