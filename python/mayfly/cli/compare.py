"""The command ``mayfly compare``."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mayfly.cli.options import (
    AsJson,
    Assets,
    Columns,
    Disciplines,
    Duration,
    Engine,
    Flows,
    Models,
    ModelsPath,
    Overrides,
    Quiet,
    Replications,
    ReportFolder,
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


def compare(
    scenario: ScenarioArgument = "wired",
    disciplines: Disciplines = None,
    flows: Flows = None,
    tunnels: Tunnels = False,
    duration: Duration = None,
    seed: Seed = None,
    replications: Replications = None,
    overrides: Overrides = None,
    trace_flow: TraceFlow = None,
    engine: Engine = "simulator",
    models: Models = False,
    models_path: ModelsPath = False,
    out: ReportFolder = Path("mayfly-compare"),
    columns: Columns = False,
    assets: Assets = "inline",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run one workload under several disciplines."""
    session = Session(as_json, quiet, out, assets)
    times = {"duration": duration, "seed": seed, "replications": replications}

    def checked() -> "Scenario":
        from mayfly.scenario.scenario import load_scenario

        return load_scenario(scenario, with_traces(changes(overrides, **times), trace_flow))

    loaded = None
    if not any((trace_flow, models, models_path)) and engine == "simulator":
        from mayfly.comparison.plain import plain_comparison, ready_job

        job = ready_job(scenario, **times, overrides=overrides or (), command="compare")
        if job is None:
            from mayfly.comparison.checked import job_of

            loaded = checked()
            job = job_of(loaded, draws=flows is None)
        with (
            reading_flows(flows, tunnels),
            session.progress(f"compare {loaded.name if loaded else scenario}") as progress,
        ):
            plain = plain_comparison(job, disciplines, flows, progress=progress)
        if plain is not None:
            session.finish(plain, columns=columns)
            return
    from mayfly.comparison.comparison import compare as run
    from mayfly.engines import engine as by_name

    loaded = loaded or checked()
    refuse_without_models(loaded, models or models_path)
    with reading_flows(flows, tunnels), session.progress(f"compare {loaded.name}") as progress:
        result = run(loaded, disciplines, flows, progress=progress, engine=by_name(engine))
    session.finish(with_models(result, models, models_path), columns=columns)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly compare wired --disciplines fifo,efd,las --duration 200s --out results")(
        compare
    )
