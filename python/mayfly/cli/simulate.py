"""The command ``mayfly simulate``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    Tunnels,
    changes,
    reading_flows,
    refuse_without_models,
    with_models,
    with_traces,
)
from mayfly.cli.session import Session

if TYPE_CHECKING:
    from mayfly.scenario.scenario import Scenario


def simulate(
    scenario: ScenarioArgument,
    discipline: Annotated[
        str, typer.Option(metavar="ID", help="Id, with options in parentheses: efd(threshold=40000)")
    ],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for flows.parquet, samples.parquet, summary.json")
    ] = Path("mayfly-simulate"),
    flows: Flows = None,
    tunnels: Tunnels = False,
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
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Flows as a stream: memory of those alive, figures by sketches; by default above 2 million transfers",
        ),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What runs it: simulator; fluid, transfers of a stream as jobs of a queue; both, with its errors",
        ),
    ] = "simulator",
    windows: Annotated[
        int | None,
        typer.Option(metavar="N", help="Cut the time of a drawn stream into so many windows, which run on all cores"),
    ] = None,
    overlap: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="By which each window begins early and ends late; a quarter of it when absent"
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="Processes for the windows; as many as cores when absent")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="tls://HOST:PORT",
            help="Run the windows on the workers of this Dask scheduler; dask://: no encryption",
        ),
    ] = None,
    certificates: Annotated[
        Path | None,
        typer.Option("--cluster-certificates", metavar="DIR", help="What mayfly sweep certificates wrote, with tls://"),
    ] = None,
    no_flows: Annotated[bool, typer.Option("--no-flows", help="With a stream: no flows.parquet")] = False,
    models: Models = False,
    models_path: ModelsPath = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run one discipline, with a record of every flow."""
    session = Session(as_json, quiet, out)
    of_run = (trace_flow, trace_drops, pcap, models, models_path)
    of_windows = {
        "--overlap": overlap,
        "--workers": workers,
        "--cluster": cluster,
        "--cluster-certificates": certificates,
    }
    windowed = windows is not None or any(value is not None for value in of_windows.values())
    of_stream = (stream, no_flows, windowed, engine != "simulator")
    times = {"duration": duration, "seed": seed}

    def checked() -> "Scenario":
        from mayfly.scenario.scenario import load_scenario

        changed = {"replications": 1} | changes(overrides, **times)
        return load_scenario(scenario, with_traces(changed, trace_flow))

    loaded = None
    if not any((*of_run, *of_stream)):
        from mayfly.comparison.plain import plain_comparison, ready_job

        job = ready_job(scenario, **times, overrides=overrides or (), command="simulate")
        if job is None:
            from mayfly.comparison.checked import job_of

            loaded = checked()
            job = job_of(loaded, draws=flows is None)
        with reading_flows(flows, tunnels), session.progress(f"simulate {discipline}") as progress:
            plain = plain_comparison(job, discipline, flows, progress=progress, command="simulate")
        if plain is not None:
            session.finish(plain, report=False, single=True)
            return
    from mayfly.comparison.comparison import run
    from mayfly.comparison.stream_choice import choose_stream, refuse_beside_windows, refuse_without_windows
    from mayfly.simulate.recording import Recording

    loaded = loaded or checked()
    refuse_without_models(loaded, models or models_path)
    lists_only = {"--pcap": pcap, "--models": models, "--models-path": models_path, "--trace-drops": trace_drops}
    if windows is not None:
        from mayfly.comparison.streamed import simulate_windows
        from mayfly.text.quantity import seconds

        refuse_beside_windows({"--flows": flows, "--no-flows": no_flows, "--stream": stream} | lists_only, engine)
        early_s = None if overlap is None else seconds(overlap, "overlap")
        with session.progress(f"simulate {discipline}") as progress:
            cut = simulate_windows(
                loaded,
                discipline,
                out,
                windows,
                early_s,
                workers=workers,
                cluster=cluster,
                certificates=certificates,
                progress=progress,
            )
        session.tell(cut, {"files": cut.files}, [f"summary: {cut.files['summary']}"])
        return
    refuse_without_windows(of_windows)
    choice = choose_stream(loaded, flows, asked=stream, engine=engine, no_flows=no_flows, lists_only=lists_only)
    if choice.reason:
        session.say(choice.reason)
    if choice.is_stream:
        from mayfly.comparison.streamed import simulate_stream

        with reading_flows(flows, tunnels), session.progress(f"simulate {discipline}") as progress:
            answer = simulate_stream(
                loaded, discipline, out, flows, records=not no_flows, engine=engine, progress=progress
            )
        session.tell(answer, {"files": answer.files}, [f"summary: {answer.files['summary']}"])
        return
    with reading_flows(flows, tunnels), session.progress(f"simulate {discipline}") as progress:
        recording = None if pcap is None else Recording(pcap, pcap_side)
        given = run(loaded, discipline, flows, progress=progress, trace_drops=trace_drops, recording=recording)
    session.finish(with_models(given, models, models_path), report=False, single=True)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly simulate wired-ns2 --discipline fifo --flows flows.csv.gz --out run --json")(
        simulate
    )
