"""`mayfly model POLICY`: response times of the M/G/1 queue, one command per row of the registry."""

from collections.abc import Callable
from typing import Annotated

import typer

from mayfly.cli.session import Session
from mayfly.models.policies import Policy

EXAMPLE = "mayfly model {id} --law bounded-pareto:min=1,max=1e6,alpha=1.1 --rho 0.8 --at 1,10,1000{more}"


def command(row: Policy) -> Callable[..., None]:
    """The command of a policy."""
    takes = {parameter.name: parameter for parameter in row.parameters}

    def run(
        law: Annotated[
            str, typer.Option(metavar="LAW", help="Sizes: exponential:mean=1, zipf:min=6,mean=40,cov=6, sample:FILE")
        ],
        rho: Annotated[float, typer.Option(metavar="LOAD", help="Offered load, above 0; at 1 the queue is unstable")],
        at: Annotated[
            str | None, typer.Option(metavar="SIZE,...", help="Sizes in the unit of the law; quantiles when absent")
        ] = None,
        threshold: Annotated[
            str | None,
            typer.Option(
                metavar="SIZE,...",
                help=takes["threshold"].about if "threshold" in takes else "Not taken by this policy",
                hidden="threshold" not in takes,
            ),
        ] = None,
        rate: Annotated[
            str | None, typer.Option(metavar="RATE", help="Of the link, such as 10mbit: times are in seconds")
        ] = None,
        unit: Annotated[
            float, typer.Option(metavar="BYTES", help="Of a unit of size, with --rate: 1500 for packets")
        ] = 1.0,
        as_json: Annotated[
            bool, typer.Option("--json", help="One JSON document on standard output and nothing else")
        ] = False,
    ) -> None:
        session = Session(as_json, quiet=True)
        from mayfly.models.answer import answer, numbers
        from mayfly.simulate.quantity import rate_bps

        found = answer(
            row.id,
            law,
            rho,
            numbers("at", at),
            rate_bps=None if rate is None else rate_bps(rate),
            unit_bytes=unit,
            threshold=numbers("threshold", threshold),
        )
        if as_json:
            session.print_json(found.document())
            return
        session.print(found.table())
        for sentence in found.sentences():
            session.print(sentence)

    run.__doc__ = f"M/G/1 {row.title}: mean response time by size."
    return run


def add_to(app: typer.Typer, rows: list[Policy]) -> None:
    """Adds a command per policy."""
    for row in rows:
        more = " --threshold 20" if any(parameter.name == "threshold" for parameter in row.parameters) else ""
        app.command(row.id, epilog="Example:  " + EXAMPLE.format(id=row.id, more=more))(command(row))
