"""The commands and their options."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mayfly.cli import qdisc, sweep
from mayfly.cli.estimate import estimate
from mayfly.cli.model.app import app as model
from mayfly.cli.profile.app import app as profile
from mayfly.cli.session import Session
from mayfly.cli.workload.app import app as workload

if TYPE_CHECKING:
    from mayfly.comparison.comparison import Comparison
    from mayfly.scenario.scenario import Scenario

app = typer.Typer(
    name="mayfly",
    help="What would each queueing discipline do to the users of a congested link?",
    epilog="Example:  mayfly compare wired --disciplines fifo,efd --duration 200s",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    # Plain help reads the same in every terminal and answers at once.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ScenarioArgument = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="Scenario file (TOML), or a ready one: wired, wired-ns2, ...")
]
Disciplines = Annotated[
    str | None,
    typer.Option(
        "--disciplines",
        "-d",
        metavar="LIST",
        help="Comma-separated, options in parentheses: fifo,lars(half_life=200ms); all, or a family such as "
        "fair-queueing, stands for its members; -las leaves one out: all,-las",
    ),
]
Flows = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Flows of any format of mayfly workload formats, in place of the workload"),
]
Duration = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="End of the run in simulated time: 200s, 5min, or a number of seconds"),
]
Seed = Annotated[str | None, typer.Option(metavar="N", help="Seed of all random streams, from 0 to 2^63 - 1")]
Replications = Annotated[
    str | None, typer.Option("--replications", "-n", metavar="N", help="Runs with seeds SEED, SEED+1, ...; from 1")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Any scenario field: network.buffer=20, tcp.min_rto=200ms; repeatable"
    ),
]
TraceFlow = Annotated[
    list[str] | None,
    typer.Option(
        "--trace-flow",
        metavar="ID",
        help="Write each packet of this flow (flow_id), or of a group, to packets.parquet, its timeouts to "
        "timeouts.parquet; repeatable",
    ),
]
ReportFolder = Annotated[
    Path, typer.Option(metavar="DIR", help="Folder for report.html, flows.parquet, samples.parquet, summary.json")
]
Models = Annotated[
    bool, typer.Option("--models", help="What an M/G/1 queue expects of each discipline, beside the simulation")
]
ModelsPath = Annotated[
    bool,
    typer.Option("--models-path", help="As --models, and what each flow takes alone: round trips, slow start"),
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="What runs it: simulator; linux, TCP and disciplines of a real kernel in virtual time; both, side by side",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output and nothing else")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar")]


def _overrides(given: list[str] | None, **options: str | None) -> dict:
    from mayfly.scenario.overrides import merged

    return merged(given or (), options)


def _with_traces(changed: dict, flows: list[str] | None) -> dict:
    """The option in place of the scenario's own choice."""
    from mayfly.errors import MayflyError

    if flows and "trace" in changed:
        raise MayflyError("trace is given twice: by --trace-flow and by --set")
    return changed | ({"trace": flows} if flows else {})


def _with_models(result: "Comparison", models: bool, path: bool) -> "Comparison":
    """The models' part of the summary where it is asked for."""
    if not models and not path:
        return result
    from mayfly.models.queue.disciplines import with_models

    return with_models(result, path)


def _for_models(scenario: "Scenario", asked: bool) -> None:
    """Refuses before the run what no model is for."""
    if asked:
        from mayfly.models.queue.disciplines import refuse_several_links

        refuse_several_links(scenario.network)


@app.command(epilog="Example:  mayfly compare wired --disciplines fifo,efd,las --duration 200s --out results")
def compare(
    scenario: ScenarioArgument = "wired",
    disciplines: Disciplines = None,
    flows: Flows = None,
    duration: Duration = None,
    seed: Seed = None,
    replications: Replications = None,
    overrides: Overrides = None,
    trace_flow: TraceFlow = None,
    engine: Engine = "simulator",
    models: Models = False,
    models_path: ModelsPath = False,
    out: ReportFolder = Path("mayfly-compare"),
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run one workload under several disciplines."""
    session = Session(as_json, quiet, out)
    from mayfly.comparison.comparison import compare as run
    from mayfly.scenario.scenario import load_scenario

    changed = _overrides(overrides, duration=duration, seed=seed, replications=replications)
    loaded = load_scenario(scenario, _with_traces(changed, trace_flow))
    _for_models(loaded, models or models_path)
    with session.progress(f"compare {loaded.name}") as progress:
        result = run(loaded, disciplines, flows, progress=progress, engine=engine)
    session.finish(_with_models(result, models, models_path))


@app.command(
    epilog="Example:  mayfly whatif captures/office.pcap.gz --rate 10mbit --buffer 300 --internal 10.10.0.0/24"
)
def whatif(
    capture: Annotated[
        Path, typer.Argument(metavar="CAPTURE", help="pcap or pcapng, .gz and .zst too; - is standard input")
    ],
    rate: Annotated[
        str, typer.Option(metavar="RATE", help="Bottleneck rate in each direction: 512kbit, 10mbit, 1gbit (10^9 bit/s)")
    ],
    buffer: Annotated[
        str, typer.Option(metavar="SIZE", help="Limit of the bottleneck queue: packets (300), or bytes (450kB)")
    ],
    internal: Annotated[
        list[str] | None,
        typer.Option(metavar="CIDR", help="Network on the near side of the link; repeatable; inferred if absent"),
    ] = None,
    load: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Scale time so that the busier direction is offered this share of the rate, such as 0.8 (0.01 to 10)",
        ),
    ] = None,
    apps: Annotated[
        bool, typer.Option("--apps", help="Replay what connections do inside: trains, think times, paces")
    ] = False,
    apps_udp: Annotated[
        bool, typer.Option("--apps-udp", help="Replay every packet when it was captured, as UDP")
    ] = False,
    disciplines: Disciplines = None,
    duration: Duration = None,
    seed: Seed = None,
    replications: Replications = None,
    overrides: Overrides = None,
    models: Models = False,
    models_path: ModelsPath = False,
    out: ReportFolder = Path("mayfly-whatif"),
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Replay a capture's flows over a bottleneck, per discipline."""
    session = Session(as_json, quiet, out)
    from mayfly.comparison.whatif import whatif as run
    from mayfly.errors import MayflyError

    if apps and apps_udp:
        raise MayflyError("--apps and --apps-udp: must be one of them")
    changed = _overrides(overrides, duration=duration, seed=seed, replications=replications)
    with session.progress(f"whatif {capture.name}") as progress:
        result = run(
            capture,
            rate,
            buffer,
            internal=internal,
            load=load,
            apps="udp" if apps_udp else "tcp" if apps else None,
            disciplines=disciplines,
            overrides=changed,
            progress=progress,
        )
    session.finish(_with_models(result, models, models_path))


@app.command(epilog="Example:  mayfly simulate wired-ns2 --discipline fifo --flows flows.csv.gz --out run --json")
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
    from mayfly.comparison.comparison import run
    from mayfly.scenario.scenario import load_scenario
    from mayfly.simulate.recording import Recording

    changed = {"replications": 1} | _overrides(overrides, duration=duration, seed=seed)
    loaded = load_scenario(scenario, _with_traces(changed, trace_flow))
    _for_models(loaded, models or models_path)
    with session.progress(f"simulate {discipline}") as progress:
        recording = None if pcap is None else Recording(pcap, pcap_side)
        result = run(loaded, discipline, flows, progress=progress, trace_drops=trace_drops, recording=recording)
    session.finish(_with_models(result, models, models_path), report=False, single=True)


@app.command(epilog="Example:  mayfly disciplines efd")
def disciplines(
    which: Annotated[
        str, typer.Argument(metavar="ID", help="A discipline, or a family such as size-based; all when absent")
    ] = "all",
    as_json: AsJson = False,
) -> None:
    """List the disciplines and their options, or explain one."""
    session = Session(as_json, quiet=True)
    from mayfly.discipline_registry import named_in

    rows = named_in(which)
    if as_json:
        session.print_json({"disciplines": rows})
        return
    from mayfly.show.disciplines_list import DisciplinesList, discipline_detail

    session.print(discipline_detail(rows[0]) if len(rows) == 1 else DisciplinesList(rows))


app.command(epilog="Example:  mayfly estimate samples.csv.gz --rate 28mbit --packet 1000B --rtt 100ms --from 100s")(
    estimate
)
app.add_typer(model, name="model")
app.add_typer(profile, name="profile")
app.add_typer(sweep.app, name="sweep")
app.add_typer(qdisc.app, name="qdisc")
app.add_typer(workload, name="workload")


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit")] = False,
) -> None:
    if version:
        from mayfly.version import described

        typer.echo(f"mayfly {described()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


# Its options are those above.
import mayfly.cli.flood  # noqa: E402
import mayfly.cli.gaming  # noqa: E402
import mayfly.cli.reproduce  # noqa: E402, F401
