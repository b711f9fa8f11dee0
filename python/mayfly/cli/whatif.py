"""The command ``mayfly whatif``."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.live import captured
from mayfly.cli.options import (
    Anonymize,
    AnonymizeKey,
    AsJson,
    Assets,
    Begin,
    Busiest,
    Columns,
    Details,
    Disciplines,
    Duplicates,
    Duration,
    End,
    Engine,
    Filter,
    Models,
    ModelsPath,
    Overrides,
    Quiet,
    Replications,
    ReportFolder,
    Seed,
    Tunnels,
    anonymizing,
    changes,
    spanned,
    with_models,
)
from mayfly.cli.session import Session


def whatif(
    capture: Annotated[
        Path | None,
        typer.Argument(metavar="CAPTURE", help="pcap or pcapng, .gz, .zst and .lz4 too; - is standard input"),
    ] = None,
    *,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE",
            help="Bottleneck rate: 512kbit, 10mbit, 1gbit (10^9 bit/s); 100mbit/20mbit; guessed if absent",
        ),
    ] = None,
    buffer: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Limit of the bottleneck queues: packets (300), bytes (450kB) or time (20ms); down and up: 300/50; "
            "guessed if absent",
        ),
    ] = None,
    internal: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CIDR",
            help="Network on the near side, toward which is down; repeatable; inferred if absent",
        ),
    ] = None,
    load: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Scale time so that the busier direction is offered this share of the rate, such as 0.8 (0.01 to 10)",
        ),
    ] = None,
    interface: Annotated[
        str | None,
        typer.Option("--interface", "-i", metavar="DEV", help="In place of a file: capture headers here, with tcpdump"),
    ] = None,
    length: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="How long, with -i: 60s when absent; Ctrl-C ends it")
    ] = None,
    replay: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="users: connections with exchanges, think times and paces, and users who wait; trains: the same, each "
            "at its time, the captured queue left in; transfers: all data at once; packets: as captured, as UDP; "
            "when absent users, and transfers with --load",
        ),
    ] = None,
    rtt: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Multiply the round-trip times of the capture so that their median is this, such as 40ms; waits stay",
        ),
    ] = None,
    link_trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="In place of a rate: the rate over time, CSV or Mahimahi's format; down, and up too"
        ),
    ] = None,
    link_trace_up: Annotated[Path | None, typer.Option(metavar="FILE", help="That of up, where it is another")] = None,
    duplicates: Duplicates = None,
    tunnels: Tunnels = False,
    begin: Begin = None,
    end: End = None,
    busiest: Busiest = None,
    filter: Filter = None,
    anonymize: Anonymize = False,
    anonymize_key: AnonymizeKey = None,
    disciplines: Disciplines = None,
    duration: Duration = None,
    seed: Seed = None,
    replications: Replications = None,
    overrides: Overrides = None,
    engine: Engine = "simulator",
    models: Models = False,
    models_path: ModelsPath = False,
    out: ReportFolder = Path("mayfly-whatif"),
    columns: Columns = False,
    details: Details = False,
    assets: Assets = "inline",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Replay a capture's flows over a bottleneck, per discipline."""
    session = Session(as_json, quiet, out, assets)
    if capture is not None:
        from mayfly.limits import one_thread_if_small

        one_thread_if_small(capture)
    from mayfly.comparison.whatif import whatif as run
    from mayfly.engines import engine as by_name
    from mayfly.errors import MayflyError
    from mayfly.workload.reading import read_as

    changed = changes(overrides, duration=duration, seed=seed, replications=replications)
    key = anonymizing(anonymize, anonymize_key)
    if key and interface is not None:
        raise MayflyError("--anonymize with -i: capture.pcap in the folder of the report would hold the real addresses")
    capture, told = captured(session, capture, interface, length, out)
    span = spanned([capture], begin, end, busiest)
    with read_as(duplicates, tunnels, span=span), session.progress(f"whatif {capture.name}") as progress:
        result = run(
            capture,
            rate,
            buffer,
            internal=internal,
            load=load,
            replay=replay,
            rtt=rtt,
            link_trace=link_trace,
            link_trace_up=link_trace_up,
            disciplines=disciplines,
            overrides=changed,
            progress=progress,
            engine=by_name(engine),
            filter=filter,
            anonymize=key,
            tell=session.early,
        )
    result.summary["notes"] = [*result.summary.get("notes", []), *told]
    session.finish(with_models(result, models, models_path), columns=columns, details=details)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        epilog="Example:  mayfly whatif captures/office.pcap.gz --rate 10mbit --buffer 300 --internal 10.10.0.0/24"
    )(whatif)
