"""The command ``mayfly simulate``."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.options import (
    AsJson,
    Duration,
    Flows,
    Models,
    ModelsPath,
    Overrides,
    Quiet,
    ScenarioArgument,
    Seed,
    TraceFlow,
    changes,
    refuse_without_models,
    with_models,
    with_traces,
)
from mayfly.cli.session import Session


def simulate(
    scenario: ScenarioArgument,
    discipline: Annotated[
        str, typer.Option(metavar="ID", help="Id, with options in parentheses: efd(threshold=40000)")
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for flows.parquet, samples.parquet, summary.json")
    ] = Path("mayfly-simulate"),
    flows: Flows = None,
    duration: Duration = None,
    seed: Seed = None,
    overrides: Overrides = None,
    trace_flow: TraceFlow = None,
    trace_drops: Annotated[bool, typer.Option("--trace-drops", help="Write each drop to drops.parquet")] = False,
    pcap: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the headers of all packets as a capture")
    ] = None,
    pcap_side: Annotated[
        str, typer.Option(metavar="SIDE", help="Whose interfaces --pcap shows: server (sends down) or client")
    ] = "server",
    models: Models = False,
    models_path: ModelsPath = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run one discipline, with a record of every flow."""
    session = Session(as_json, quiet, out)
    result = None
    beside = (overrides, trace_flow, trace_drops, pcap, models, models_path)
    with session.progress(f"simulate {discipline}") as progress:
        if flows is not None and not any(beside):
            from mayfly.comparison.plain import plain_run

            result = plain_run(scenario, discipline, flows, duration=duration, seed=seed, progress=progress)
    if result is not None:
        session.finish(result, report=False, single=True)
        return
    from mayfly.comparison.comparison import run
    from mayfly.scenario.scenario import load_scenario
    from mayfly.simulate.recording import Recording

    changed = {"replications": 1} | changes(overrides, duration=duration, seed=seed)
    loaded = load_scenario(scenario, with_traces(changed, trace_flow))
    refuse_without_models(loaded, models or models_path)
    with session.progress(f"simulate {discipline}") as progress:
        recording = None if pcap is None else Recording(pcap, pcap_side)
        given = run(loaded, discipline, flows, progress=progress, trace_drops=trace_drops, recording=recording)
    session.finish(with_models(given, models, models_path), report=False, single=True)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly simulate wired-ns2 --discipline fifo --flows flows.csv.gz --out run --json")(
        simulate
    )
