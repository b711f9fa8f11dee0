"""`mayfly model lfq`: response times under lagged fair queueing, and what its lags are for."""

from typing import Annotated

import typer

from mayfly.cli.model.policy import PolicyCommand
from mayfly.cli.session import Session


def lfq(
    law: Annotated[
        str, typer.Option(metavar="LAW", help="Sizes: exponential:mean=1, zipf:min=6,mean=40,cov=6, sample:FILE")
    ],
    rho: Annotated[float, typer.Option(metavar="LOAD", help="Offered load, above 0; at 1 the queue is unstable")],
    at: Annotated[
        str | None, typer.Option(metavar="SIZE,...", help="Sizes in the unit of the law; quantiles when absent")
    ] = None,
    user_lag: Annotated[
        float | None,
        typer.Option(metavar="SIZE", help="B, by which a user may be behind; with --unit that of the discipline"),
    ] = None,
    flow_lag: Annotated[
        float | None,
        typer.Option(metavar="SIZE", help="b, by which a transfer may be behind in its user; likewise"),
    ] = None,
    users: Annotated[
        float | None,
        typer.Option(metavar="N", help="Users, all alike; 0: each transfer is one of its own; 10 when absent"),
    ] = None,
    pace: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Speed of clocks, 0 to 1; that of the discipline when absent"),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of the link, such as 10mbit: times are in seconds")
    ] = None,
    unit: Annotated[
        float | None,
        typer.Option(
            metavar="BYTES", help="Of a unit of size: 1500 for packets; lags then default to the discipline's"
        ),
    ] = None,
    percentiles: Annotated[
        str, typer.Option(metavar="[Q,...]", help="Of the response time, by size and over all jobs, simulated")
    ] = "95",
    jobs: Annotated[int, typer.Option(metavar="N", min=0, help="Jobs to simulate; 0: formulas only")] = 400_000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Of the simulated jobs")] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on standard output and nothing else")
    ] = False,
) -> None:
    """M/G/1 lagged fair queueing, users with transfers: response time by size, and the choice of its lag."""
    session = Session(as_json, quiet=True)
    from mayfly.models.queue.answer import numbers
    from mayfly.models.queue.lfq_answer import lfq_answer
    from mayfly.text.quantity import rate_bps

    found = lfq_answer(
        law,
        rho,
        numbers("at", at),
        user_lag=user_lag,
        flow_lag=flow_lag,
        users=users,
        pace=pace,
        rate_bps=None if rate is None else rate_bps(rate),
        unit_bytes=unit,
        percentiles=numbers("percentiles", percentiles),
        jobs=jobs,
        seed=seed,
    )
    session.tell(found)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(
        cls=PolicyCommand,
        epilog="Example:  mayfly model lfq --law zipf:min=6,mean=40,cov=6 --rho 0.8 --rate 10mbit --unit 1500 "
        "--users 10",
    )(lfq)
