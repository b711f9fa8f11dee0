"""`mayfly link-trace`: what is in a trace of a link, traces made and fitted, set-ups compared on one."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import AsJson, Quiet
from mayfly.cli.session import Session

app = typer.Typer(help="Links whose rate varies: traces, and what to put before them.", rich_markup_mode=None)

TraceFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="Rate over time: CSV (time_s,rate_mbps) or Mahimahi's format")
]
SeedNumber = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Of the draw")]


def show(trace: TraceFile, as_json: AsJson = False) -> None:
    """Rates, outages and delays of a trace."""
    session = Session(as_json, quiet=True)
    from mayfly.link_trace.answer import Shown
    from mayfly.link_trace.files import read_trace

    session.tell(Shown(read_trace(trace)))


def make(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="lte, 5g, starlink, dsl or wifi")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="CSV; .mahimahi, .up or .down: Mahimahi's format")],
    duration: Annotated[str, typer.Option(metavar="TIME", help="Length of the trace, 1 s to a day")] = "60s",
    seed: SeedNumber = 1,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the law: mean=20mbit; repeatable"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw a trace from a law of its kind."""
    session = Session(as_json, quiet=True)
    from mayfly.link_trace.answer import Shown
    from mayfly.link_trace.files import read_trace, write_trace
    from mayfly.link_trace.kinds import make as run
    from mayfly.scenario.overrides import parse_override
    from mayfly.text.quantity import seconds

    parameters = dict(parse_override(text) for text in overrides or ())
    write_trace(run(kind, seconds(duration, "duration"), seed, parameters), out)
    session.tell(Shown(read_trace(out)), {"file": str(out)})


def fit(
    trace: TraceFile,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a trace that the model draws")] = None,
    duration: Annotated[str, typer.Option(metavar="TIME", help="Length of that trace")] = "60s",
    seed: SeedNumber = 1,
    as_json: AsJson = False,
) -> None:
    """Fit a model to a trace, and judge it by the half it has not seen."""
    session = Session(as_json, quiet=True)
    from mayfly.link_trace.answer import fitted
    from mayfly.link_trace.files import read_trace, write_trace
    from mayfly.text.quantity import seconds

    found = fitted(read_trace(trace), seed)
    lines = []
    if out is not None:
        write_trace(found.model.drawn(seconds(duration, "duration"), seed), out)
        lines.append(f"trace: {out}")
    session.tell(found, {} if out is None else {"out": str(out)}, lines)


def bench(
    trace: TraceFile,
    reverse: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Trace of the other direction; the same when absent")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time simulated; that of the trace, at most 120 s, when absent")
    ] = None,
    flows: Annotated[int, typer.Option(metavar="N", help="Downloads that never end")] = 4,
    rtt: Annotated[str, typer.Option(metavar="TIME", help="Round-trip time without queueing")] = "40ms",
    buffer: Annotated[
        str, typer.Option(metavar="SIZE", help="Of the modem and of the shaper: 300, 450kB or 250ms")
    ] = "250ms",
    disciplines: Annotated[
        str, typer.Option("--disciplines", "-d", metavar="LIST", help="On the link itself, without a shaper")
    ] = "fifo,fq_codel",
    shaped: Annotated[str, typer.Option(metavar="DISCIPLINE", help="Of the shapers")] = "fq_codel",
    seed: SeedNumber = 1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """What each set-up costs of the rate and of the delay."""
    session = Session(as_json, quiet)
    from mayfly.link_bench.bench import bench as run

    with session.progress(f"bench {trace.name}") as progress:
        found = run(
            trace,
            reverse,
            duration=duration,
            flows=flows,
            rtt=rtt,
            buffer=int(buffer) if buffer.isdecimal() else buffer,
            disciplines=disciplines,
            shaped=shaped,
            seed=seed,
            progress=progress,
        )
    if not as_json:
        session.print(found.advice)
    session.tell(found)


app.command(epilog="Example:  mayfly link-trace show lte.csv")(show)
app.command(epilog="Example:  mayfly link-trace make starlink --duration 120s --seed 3 --out starlink.csv")(make)
app.command(epilog="Example:  mayfly link-trace fit lte.csv --out more.csv --duration 10min")(fit)
app.command(epilog="Example:  mayfly link-trace bench lte.csv")(bench)


def register(parent: typer.Typer) -> None:
    """Adds the commands."""
    parent.add_typer(app, name="link-trace")
