"""`mayfly estimate`: how much of the traffic at a queue does not respond to drops."""

from pathlib import Path
from typing import Annotated, Any

import typer

from mayfly.cli.options import Assets
from mayfly.cli.session import Session


def estimate(
    samples: Annotated[
        Path,
        typer.Argument(
            metavar="SAMPLES",
            help="samples.parquet of `mayfly simulate`, CSV (time_s, queue_packets, arrivals, drops), or polls of "
            "`tc -s qdisc`; - is the standard input",
        ),
    ],
    rate: Annotated[str, typer.Option(metavar="RATE", help="Of the link: 28mbit")],
    rtt: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Round-trip time without queueing: 100ms, a range of flows: 24ms..176ms, or auto, from the samples",
        ),
    ],
    packet: Annotated[str, typer.Option(metavar="BYTES", help="Of a typical packet on the wire")] = "1000B",
    method: Annotated[
        str,
        typer.Option(
            metavar="ID", help="default, response, basic, p0, loss, multihop or cbr: docs/estimate/methods.md"
        ),
    ] = "default",
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any parameter: gamma_2=0.25, sampling=33ms; repeatable"),
    ] = None,
    since: Annotated[
        str, typer.Option("--from", metavar="TIME", help="Estimates from here on are shown and compared with the truth")
    ] = "0s",
    ticks: Annotated[
        int | None,
        typer.Option(metavar="N", help="Calculate with integers, as a kernel with a clock of N ticks per second"),
    ] = None,
    discipline: Annotated[
        str | None, typer.Option(metavar="LABEL", help="Whose samples, where the file has those of several")
    ] = None,
    device: Annotated[
        str | None, typer.Option("--dev", metavar="NAME", help="Whose polls, where there are several interfaces")
    ] = None,
    following: Annotated[
        bool,
        typer.Option("--follow", help="A line for each estimate as soon as the polls for it have come, to their end"),
    ] = False,
    alarm: Annotated[
        str | None,
        typer.Option(
            metavar="ABOVE[,BELOW]",
            help="Tell when three estimates in a row that may be relied on were above, until three below: 0.7,0.6",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "--plot", metavar="FILE", help="The series: .csv, or .html with plots against the truth"),
    ] = None,
    assets: Assets = "inline",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on standard output and nothing else")
    ] = False,
) -> None:
    """Estimate the share of traffic that ignores drops."""
    session = Session(as_json, quiet=True, out=None if out is None else out.parent, assets=assets)
    from mayfly.errors import MayflyError
    from mayfly.estimate.alarm import bounds
    from mayfly.estimate.estimate import estimate as run
    from mayfly.estimate.estimate import packet_size
    from mayfly.estimate.samples import read_samples
    from mayfly.scenario.overrides import parse_override
    from mayfly.text.quantity import seconds

    if following:
        _follow(
            session,
            samples,
            since,
            alarm,
            out,
            {
                "rate": rate,
                "rtt": rtt,
                "packet": packet,
                "device": device,
                "method": method,
                "ticks": ticks,
                "options": dict(parse_override(text) for text in overrides or ()),
            },
        )
        return
    if out is not None and out.suffix not in (".csv", ".html"):
        raise MayflyError(f"out = {out}: must end in .csv or .html")
    read = read_samples(samples, packet_bytes=packet_size(packet), run=discipline, device=device)
    options = dict(parse_override(text) for text in overrides or ())
    from_s = seconds(since, "from")
    found = run(read, rate, rtt, packet, method=method, from_s=from_s, ticks=ticks, options=options)
    files = {}
    if out is not None:
        from mayfly.estimate.page import write_estimates

        files = {"files": session.placed({"series": str(write_estimates(out, found))})}
    raised = None if alarm is None else found.alarms(*bounds(alarm))
    told = {} if raised is None else {"alarms": [one.document() for one in raised]}
    lines = [f"alarm: {one}" for one in raised or ()]
    lines += ["no alarm"] if raised == [] else []
    lines += [f"series: {out}"] if files else []
    session.tell(found, told | files, lines)


def _follow(
    session: Session, polls: Path, since: str, alarm: str | None, out: Path | None, how: dict[str, Any]
) -> None:
    """A line, or a JSON document, for each estimate, and for each alarm that begins or ends."""
    from dataclasses import replace

    from mayfly.errors import MayflyError
    from mayfly.estimate.alarm import bounds
    from mayfly.estimate.estimate import doubts
    from mayfly.estimate.follow import follow, line_of, opened
    from mayfly.text.quantity import seconds

    if out is not None:
        raise MayflyError(
            "out: must be left out with --follow; keep the polls, and estimate them when they are complete"
        )
    from_s, limits = seconds(since, "from"), None if alarm is None else bounds(alarm)
    told = 0
    standing: list[Any] = []
    with opened(polls) as lines:
        for every in follow(lines, name=polls.name, **how):
            found = replace(every, from_s=from_s)
            rows = found.document()["series"]
            for row in rows[told:]:
                session.line(row, line_of(row, doubts()))
            told = len(rows)
            alarms = [] if limits is None else found.alarms(*limits)
            ends = [(one.raised_s, one.cleared_s) for one in alarms]
            if ends != standing:
                session.line({"alarms": [one.document() for one in alarms]}, f"alarm: {alarms[-1]}")
                standing = ends


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly estimate samples.csv.gz --rate 28mbit --packet 1000B --rtt 100ms --from 100s")(
        estimate
    )
