"""`mayfly model`: answers of queueing models, without a simulation."""

from pathlib import Path
from typing import Annotated

import typer

from mayfly.cli.model.compare import compare
from mayfly.cli.model.efd import efd, efd_sizes, gaps
from mayfly.cli.model.fluid import fluid
from mayfly.cli.model.law import law
from mayfly.cli.model.lfq import lfq
from mayfly.cli.model.policy import PolicyCommand, add_to
from mayfly.cli.model.sampling import sampling
from mayfly.cli.model.tcp import tcp
from mayfly.cli.model.wlan import wlan
from mayfly.cli.session import Session
from mayfly.models.queue.policies import POLICIES

app = typer.Typer(help="Models: settings and means without a simulation.", rich_markup_mode=None)

add_to(app, [row for row in POLICIES.values() if row.id != "lfq"])
app.command(
    cls=PolicyCommand,
    epilog="Example:  mayfly model lfq --law zipf:min=6,mean=40,cov=6 --rho 0.8 --rate 10mbit --unit 1500 --users 10",
)(lfq)
app.command(
    epilog="Example:  mayfly model compare fifo,ps,las --law bounded-pareto:min=1,max=1e6,alpha=1.1 --out models"
)(compare)
app.command(epilog="Example:  mayfly model wlan --standard 802.11a --stations 10")(wlan)
app.command(epilog="Example:  mayfly model law zipf:min=6,mean=40,cov=6 --at 6,20,100")(law)
app.command(epilog="Example:  mayfly model fluid --rate 28mbit --tcp 30 --rtt 50ms --nonresponsive 10mbit")(fluid)
app.command(epilog="Example:  mayfly model tcp --size 20,100,1000 --rtt 100ms --loss 1%")(tcp)
app.command(epilog="Example:  mayfly model sampling --p 0.02 --at 10,50,100")(sampling)
app.command(epilog="Example:  mayfly model efd --law zipf:min=6,mean=40,cov=6 --rho 0.5 --at 6,20")(efd)
app.command(
    "efd-sizes",
    epilog="Example:  mayfly model efd-sizes --law zipf:min=6,mean=40,cov=6 --rho 0.7 --rtt 20ms --at 6,1000",
)(efd_sizes)
app.command(epilog="Example:  mayfly model gaps out/subflows.parquet --since 100s")(gaps)


@app.command(epilog="Example:  mayfly model pias --levels 4 --load 0.8 --scenario wired")
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
    from mayfly.models.queue.pias import offered_by, optimise, spelled
    from mayfly.scenario.overrides import merged
    from mayfly.scenario.scenario import load_scenario

    if law is None:
        sizes, offered = offered_by(load_scenario(scenario, merged(overrides or (), {})), flows)
    else:
        sizes, offered = spelled(law, unit, load, flows)
    found = optimise(sizes, levels, offered if load is None else load, objective=objective, minimise=minimise)
    session.tell(found)


def register(root: typer.Typer) -> None:
    """Adds the group."""
    root.add_typer(app, name="model")
