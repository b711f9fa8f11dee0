"""`mayfly model law`: moments of a law of sizes, and where its mass lies."""

from typing import Annotated

import typer

from mayfly.cli.session import Session


def law(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="LAW", help="zipf:min=6,mean=40,cov=6, sample:FILE; with ranges (alpha=1..2) a map of mean and CoV"
        ),
    ],
    at: Annotated[str | None, typer.Option(metavar="SIZE,...", help="Sizes; quantiles when absent")] = None,
    steps: Annotated[int, typer.Option(metavar="N", help="Of a map: values of each parameter that has a range")] = 5,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON document on standard output and nothing else")
    ] = False,
) -> None:
    """A law of sizes: mean, CoV, quantiles, truncated moments, and the share of the mass in the largest jobs."""
    session = Session(as_json, quiet=True)
    from mayfly.models.laws.summary import has_ranges, law_map, law_summary
    from mayfly.models.queue.answer import numbers

    found = law_map(spec, steps) if has_ranges(spec) else law_summary(spec, numbers("at", at))
    session.tell(found)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(epilog="Example:  mayfly model law zipf:min=6,mean=40,cov=6 --at 6,20,100")(law)
