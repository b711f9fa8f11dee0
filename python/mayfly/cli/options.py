"""Arguments and options that several commands have."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mayfly.cli import completion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mayfly.comparison.comparison import Comparison
    from mayfly.scenario.scenario import Scenario
    from mayfly.workload.span import Span

ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO",
        help="Scenario file (TOML), or a ready one: wired, wired-ns2, ...",
        autocompletion=completion.scenarios,
    ),
]
Disciplines = Annotated[
    str | None,
    typer.Option(
        "--disciplines",
        "-d",
        metavar="LIST",
        help="Comma-separated, options in parentheses: fifo,lars(half_life=200ms); all, shortlist, or a family such "
        "as fair-queueing, stands for its members; -las leaves one out: all,-las",
        autocompletion=completion.disciplines,
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
    str | None,
    typer.Option(
        "--replications",
        "-n",
        metavar="N",
        help="Runs with seeds SEED, SEED+1, ..., from 1; of a capture resampled hours, 6 to 16 when absent",
    ),
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
Columns = Annotated[bool, typer.Option("--columns", help="All columns of the tables: flow table and its memory, too")]
Details = Annotated[
    bool, typer.Option("--details", help="Who waits longest, and mean response times of whole connections, too")
]
Assets = Annotated[
    str,
    typer.Option(
        metavar="KIND",
        help="Where reports have the plot library: inline, each in itself; shared, once per folder, in mayfly-assets",
    ),
]
Duplicates = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="Packets captured more than once: auto leaves them out above a fifth of the packets, keep, leave-out",
    ),
]
Tunnels = Annotated[
    bool,
    typer.Option(
        "--tunnels",
        help="Look inside GRE, VXLAN, Geneve, GTP-U, IP in IP: who talks there; the packets outside stay the load",
    ),
]
Filter = Annotated[
    str | None,
    typer.Option(
        metavar="EXPR",
        help="Packets that count, as tcpdump names them: 'tcp port 443 and not host 10.0.0.5'; a subset",
    ),
]
Begin = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="TIME", help="What comes before does not count: 20min after the first packet, 14:30"
    ),
]
End = Annotated[str | None, typer.Option("--to", metavar="TIME", help="What comes from then on does not count")]
Busiest = Annotated[
    str | None, typer.Option(metavar="TIME", help="The busiest time of this length counts alone, such as 10min")
]
Anonymize = Annotated[
    bool,
    typer.Option("--anonymize", help="Other addresses in all output, prefixes shared as before (Crypto-PAn)"),
]
AnonymizeKey = Annotated[
    Path | None,
    typer.Option("--anonymize-key", metavar="FILE", help="Its key: 32 bytes, or 64 hexadecimal digits; else random"),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output and nothing else")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar")]


def changes(given: list[str] | None, **options: str | None) -> dict[str, Any]:
    """What ``--set`` and the options of a command change in a scenario."""
    from mayfly.scenario.overrides import merged

    return merged(given or (), options)


def reading_flows(flows: Path | None, tunnels: bool) -> AbstractContextManager[None]:
    """``--flows`` of a capture, looked into by ``--tunnels``."""
    if not tunnels:
        return nullcontext()
    from mayfly.errors import MayflyError
    from mayfly.workload.formats.registry import is_capture
    from mayfly.workload.reading import read_as

    if flows is None or not is_capture(flows):
        raise MayflyError("--tunnels: looks into the packets of a capture: give one by --flows")
    return read_as(tunnels=True, known=True)


def spanned(captures: "Sequence[Path]", begin: str | None, end: str | None, busiest: str | None) -> "Span":
    """The time of captures that counts, as ``--from``, ``--to`` and ``--busiest`` ask for it."""
    from mayfly.workload.span import Span

    if busiest is None:
        return Span(begin, end)
    from mayfly.errors import MayflyError
    from mayfly.text.readable import printable
    from mayfly.workload.load_by_time import busiest_span

    if begin is not None or end is not None:
        raise MayflyError(f"--busiest {printable(busiest)}: must be given without --from and --to")
    return busiest_span(captures, busiest)


def anonymizing(asked: bool, key: Path | None) -> bool | bytes:
    """``--anonymize`` and ``--anonymize-key``, which asks for it, too, as functions take them."""
    if key is None:
        return asked
    from mayfly.workload.sieve import key_of

    return key_of(key)


def with_traces(changed: dict[str, Any], flows: list[str] | None) -> dict[str, Any]:
    """What is changed, with ``--trace-flow`` in place of the scenario's own choice."""
    from mayfly.errors import MayflyError

    if flows and "trace" in changed:
        raise MayflyError("trace is given twice: by --trace-flow and by --set")
    return changed | ({"trace": flows} if flows else {})


def with_models(result: "Comparison", models: bool, path: bool) -> "Comparison":
    """The comparison with what models expect, where ``--models`` or ``--models-path`` asks for it."""
    return result.with_models(path) if models or path else result


def refuse_without_models(scenario: "Scenario", asked: bool) -> None:
    """Refuses before the run what no model is for."""
    if asked:
        from mayfly.models.queue.disciplines import refuse_several_links

        refuse_several_links(scenario.network)
