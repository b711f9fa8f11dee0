"""The command line: options in, tables and files out. No logic lives here."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.session import Session
from mayfly.errors import MayflyError

app = typer.Typer(
    name="mayfly",
    help="What would each queueing discipline do to the users of a congested link?",
    epilog="Examples:  mayfly compare --disciplines fifo,efd   |   mayfly whatif office.pcap.gz --rate 10mbit --buffer 300",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ScenarioArgument = Annotated[str, typer.Argument(help="Scenario file (TOML), or a ready one: wired, wired-ns2, ...")]
Disciplines = Annotated[
    str | None,
    typer.Option("--disciplines", "-d", help="Comma-separated, options in parentheses: fifo,efd(threshold=40000); or all"),
]
Flows = Annotated[Path | None, typer.Option(help="Flow list (CSV, CSV.gz, Parquet) in place of the scenario's workload")]
Duration = Annotated[str | None, typer.Option(help="End of the run, such as 200s")]
Seed = Annotated[int | None, typer.Option(help="Seed of all random streams")]
Replications = Annotated[int | None, typer.Option("--replications", "-n", help="Runs with seeds SEED, SEED+1, ...")]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Any scenario field: network.buffer=20; repeatable")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output and nothing else")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar")]


def _overrides(given: list[str] | None, **options: object) -> dict:
    from mayfly.simulate.scenario import parse_override

    named = dict(parse_override(text) for text in given or [])
    return named | {name: value for name, value in options.items() if value is not None}


@app.command(epilog="Example:  mayfly compare wired --disciplines fifo,efd,las --duration 200s --out results")
def compare(
    scenario: ScenarioArgument = "wired",
    disciplines: Disciplines = None,
    flows: Flows = None,
    duration: Duration = None,
    seed: Seed = None,
    replications: Replications = None,
    overrides: Overrides = None,
    out: Annotated[Path, typer.Option(help="Folder for report.html, *.parquet, summary.json")] = Path("mayfly-compare"),
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run the same workload under several disciplines: table, report and records."""
    with Session(as_json, quiet) as session:
        from mayfly.simulate.comparison import compare as run
        from mayfly.simulate.scenario import load_scenario

        changed = _overrides(overrides, duration=duration, seed=seed, replications=replications)
        loaded = load_scenario(scenario, changed)
        with session.progress(f"compare {loaded.name}") as progress:
            result = run(loaded, disciplines, flows, progress=progress)
        session.finish(result, out)


@app.command(epilog="Example:  mayfly whatif captures/office.pcap.gz --rate 10mbit --buffer 300 --internal 10.10.0.0/24")
def whatif(
    capture: Annotated[Path, typer.Argument(help="pcap or pcapng, .gz too")],
    rate: Annotated[str, typer.Option(help="Bottleneck rate, each direction, such as 10mbit")],
    buffer: Annotated[str, typer.Option(help="Limit of the bottleneck queue: packets, or bytes such as 450kB")],
    internal: Annotated[
        list[str] | None, typer.Option(metavar="CIDR", help="Network on the near side of the link; repeatable; inferred if absent")
    ] = None,
    load: Annotated[
        float | None, typer.Option(help="Scale time so that the busier direction is offered this share of the rate, such as 0.8")
    ] = None,
    disciplines: Disciplines = None,
    duration: Duration = None,
    seed: Seed = None,
    replications: Replications = None,
    overrides: Overrides = None,
    out: Annotated[Path, typer.Option(help="Folder for report.html, *.parquet, summary.json")] = Path("mayfly-whatif"),
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Replay a capture's own flows over a bottleneck of that rate under each discipline."""
    with Session(as_json, quiet) as session:
        from mayfly.simulate.whatif import whatif as run

        changed = _overrides(overrides, duration=duration, seed=seed, replications=replications)
        with session.progress(f"whatif {capture.name}") as progress:
            result = run(
                capture,
                rate,
                buffer,
                internal=internal,
                load=load,
                disciplines=disciplines,
                overrides=changed,
                progress=progress,
            )
        session.finish(result, out)


@app.command(epilog="Example:  mayfly simulate wired-ns2 --discipline fifo --flows flows.csv.gz --out run --json")
def simulate(
    scenario: ScenarioArgument,
    discipline: Annotated[str, typer.Option(help="Id, with options in parentheses: efd(threshold=40000)")],
    out: Annotated[Path, typer.Option(help="Folder for *.parquet and summary.json")],
    flows: Flows = None,
    duration: Duration = None,
    seed: Seed = None,
    overrides: Overrides = None,
    trace_drops: Annotated[bool, typer.Option("--trace-drops", help="Write each drop to drops.parquet")] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run one discipline once and keep a record of every flow."""
    with Session(as_json, quiet) as session:
        from mayfly.simulate.comparison import run
        from mayfly.simulate.scenario import load_scenario

        loaded = load_scenario(scenario, _overrides(overrides, duration=duration, seed=seed, replications=1))
        with session.progress(f"simulate {discipline}") as progress:
            result = run(loaded, discipline, flows, progress=progress, trace_drops=trace_drops)
        session.finish(result, out, report=False, single=True)


@app.command(epilog="Example:  mayfly disciplines --json")
def disciplines(as_json: AsJson = False) -> None:
    """List the disciplines with their parameters."""
    with Session(as_json, quiet=True) as session:
        from mayfly.simulate.disciplines import disciplines as registry

        rows = registry()
        if as_json:
            session.print_json({"disciplines": rows})
        else:
            from mayfly.report.terminal import disciplines_table

            session.print(disciplines_table(rows))


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Show the version and exit")] = False,
) -> None:
    if show:
        from importlib.metadata import version as installed

        typer.echo(f"mayfly {installed('mayfly')}")
        raise typer.Exit


def main() -> None:
    """Entry point of the `mayfly` command: usage errors are one line and exit status 2 as well."""
    from mayfly.cli.session import usage_error

    try:
        status = app(standalone_mode=False)
    except typer.Exit as done:
        status = done.exit_code
    except typer.Abort:
        status = 130
    except MayflyError as error:
        status = usage_error(str(error), sys.argv)
    except Exception as error:
        # The library behind typer reports unknown options and missing arguments by exceptions of its own.
        if not hasattr(error, "format_message"):
            raise
        status = usage_error(error.format_message(), sys.argv)
    sys.exit(status)
