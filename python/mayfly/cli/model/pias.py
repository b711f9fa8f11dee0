"""`mayfly model pias`: thresholds at which flows lose priority."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mayfly.cli.session import Session

if TYPE_CHECKING:
    from mayfly.summary_types import Accounted


def pias(
    levels: Annotated[int, typer.Option(metavar="N", help="Levels of priority, from 2 to 64")] = 4,
    load: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Offered load, above 0, below 1; that of the workload when absent"),
    ] = None,
    scenario: Annotated[
        str, typer.Option(metavar="SCENARIO", help="Scenario file (TOML) or a ready one: its law of sizes, rate, MSS")
    ] = "wired",
    flows: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File of any format of mayfly workload formats: its sizes in place of the law"
        ),
    ] = None,
    law: Annotated[
        str | None,
        typer.Option(metavar="LAW", help="Sizes on the wire in place of those: lognormal:mean=40,cov=3"),
    ] = None,
    unit: Annotated[float, typer.Option(metavar="BYTES", help="Of a unit of size, with --law: 1500 for packets")] = 1.0,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any scenario field: workload.law=pareto; repeatable"),
    ] = None,
    objective: Annotated[
        str,
        typer.Option(
            metavar="MODEL",
            help="mg1: flows of a level share it; mg1-fcfs: they take turns; pias: each level an M/M/1 queue",
        ),
    ] = "mg1",
    minimise: Annotated[str, typer.Option(metavar="MEAN", help="response or slowdown")] = "response",
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on standard output and nothing else")
    ] = False,
) -> None:
    """Find the best demotion thresholds for given flow sizes."""
    session = Session(as_json, quiet=True)
    from dataclasses import replace

    from mayfly.models.queue.pias import offered_by, optimise, spelled
    from mayfly.scenario.overrides import merged
    from mayfly.scenario.scenario import load_scenario

    accounts: list[Accounted] = []
    if law is None:
        sizes, offered = offered_by(load_scenario(scenario, merged(overrides or (), {})), flows, accounts)
    else:
        sizes, offered = spelled(law, unit, load, flows)
    found = optimise(sizes, levels, offered if load is None else load, objective=objective, minimise=minimise)
    session.tell(replace(found, account=tuple(accounts)))


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly model pias --levels 4 --load 0.8 --scenario wired")(pias)
