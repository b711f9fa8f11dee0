"""`mayfly model POLICY`: response times of the M/G/1 queue, one command per row of the registry."""

from collections.abc import Callable
from inspect import Parameter, signature
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from mayfly.cli.session import Session
from mayfly.models.queue.policies import POLICIES, Policy

EXAMPLE = "mayfly model {id} --law bounded-pareto:min=1,max=1e6,alpha=1.1 --rho 0.8 --at 1,10,1000{more}"

PERCENTILES = "50,90,99"
"""What `--percentiles` asks for when no list follows it."""


class PolicyCommand(TyperCommand):
    """A command whose `--percentiles` may stand without a list."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default list after an option without one."""
        given = list(args)
        for place, word in enumerate(args):
            if word == "--percentiles" and (place + 1 == len(args) or args[place + 1].startswith("-")):
                given[place] = f"--percentiles={PERCENTILES}"
        return super().parse_args(ctx, given)


def run(
    row: Policy,
    law: Annotated[
        str, typer.Option(metavar="LAW", help="Sizes: exponential:mean=1, zipf:min=6,mean=40,cov=6, sample:FILE")
    ],
    rho: Annotated[float, typer.Option(metavar="LOAD", help="Offered load, above 0; at 1 the queue is unstable")],
    at: Annotated[
        str | None, typer.Option(metavar="SIZE,...", help="Sizes in the unit of the law; quantiles when absent")
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Of the link, such as 10mbit: times are in seconds")
    ] = None,
    unit: Annotated[
        float, typer.Option(metavar="BYTES", help="Of a unit of size, with --rate: 1500 for packets")
    ] = 1.0,
    percentiles: Annotated[
        str | None,
        typer.Option(metavar="[Q,...]", help=f"Of the response time too, by size and over all jobs: {PERCENTILES}"),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on standard output and nothing else")
    ] = False,
    **parameters: str | None,
) -> None:
    """Answers for a policy."""
    session = Session(as_json, quiet=True)
    from mayfly.models.queue.answer import answer, numbers
    from mayfly.text.quantity import rate_bps

    found = answer(
        row.id,
        law,
        rho,
        numbers("at", at),
        rate_bps=None if rate is None else rate_bps(rate),
        unit_bytes=unit,
        percentiles=numbers("percentiles", percentiles),
        **{name: numbers(name, value) for name, value in parameters.items()},
    )
    session.tell(found)


def command(row: Policy) -> Callable[..., None]:
    """The command of a policy: the options of all, and one per parameter of its own."""

    def policy(**given: Any) -> None:
        run(row, **given)

    shared = list(signature(run).parameters.values())[1:-1]
    own = [_option(parameter) for parameter in row.parameters]
    ordered = [option.replace(kind=Parameter.KEYWORD_ONLY) for option in shared[:3] + own + shared[3:]]
    # What typer reads; the type of a function does not have it.
    policy.__dict__["__signature__"] = signature(run).replace(parameters=ordered)
    policy.__annotations__ = {option.name: option.annotation for option in shared + own}
    policy.__doc__ = f"M/G/1 {row.title}: mean response time by size."
    return policy


def _option(parameter: Any) -> Parameter:
    needed = parameter.default is None
    metavar = "SIZE,..." if parameter.several else "NUMBER"
    about = parameter.about if needed else f"{parameter.about}; {parameter.default:.4g} when absent"
    option = typer.Option(metavar=metavar, help=about)
    kind = Annotated[str, option] if needed else Annotated[str | None, option]
    default = Parameter.empty if needed else None
    return Parameter(parameter.name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def add_to(app: typer.Typer, rows: list[Policy]) -> None:
    """Adds a command per policy."""
    for row in rows:
        more = " --threshold 20" if any(parameter.name == "threshold" for parameter in row.parameters) else ""
        app.command(row.id, cls=PolicyCommand, epilog="Example:  " + EXAMPLE.format(id=row.id, more=more))(command(row))


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    add_to(app, [row for row in POLICIES.values() if row.id != "lfq"])
