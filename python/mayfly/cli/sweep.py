"""The commands of ``mayfly sweep``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mayfly.cli.default_command import RunByDefault
from mayfly.cli.options import Assets
from mayfly.cli.process import FAILED
from mayfly.cli.session import Session

if TYPE_CHECKING:
    from mayfly.sweep.plan import Plan


app = typer.Typer(
    cls=RunByDefault,
    help="Many runs: over scenario fields, disciplines and seeds. `mayfly sweep FILE` runs a file.",
    epilog="Example:  mayfly sweep scenarios/sweep-buffer.toml --out sweep",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="Sweep (TOML): docs/how-to/sweeps.md")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Folder of the results; what is in it does not run again")]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", metavar="NAME", help="Figure to show, such as short.mean_s; repeatable"),
]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A scenario field at every point; repeatable")
]
Duration = Annotated[str | None, typer.Option(metavar="TIME", help="End of every run in simulated time")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output and nothing else")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar")]


def _plan(file: Path, overrides: list[str] | None, duration: str | None) -> "Plan":
    from mayfly.scenario.overrides import merged
    from mayfly.sweep.plan import load_plan

    return load_plan(file, merged(overrides or (), {"duration": duration}))


@app.command(epilog="Example:  mayfly sweep sweep.toml --out results --shard 1/4")
def run(
    file: File,
    out: Out = Path("mayfly-sweep"),
    metrics: Metrics = None,
    overrides: Overrides = None,
    duration: Duration = None,
    shard: Annotated[
        str, typer.Option(metavar="I/N", help="Only the I-th of N parts, for job arrays; all may share one folder")
    ] = "1/1",
    workers: Annotated[int | None, typer.Option(metavar="N", help="Processes; as many as cores when absent")] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="tls://HOST:PORT", help="Run on the workers of this Dask scheduler; dask://: no encryption"
        ),
    ] = None,
    certificates: Annotated[
        Path | None,
        typer.Option("--cluster-certificates", metavar="DIR", help="What mayfly sweep certificates wrote, with tls://"),
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Run again what failed before")] = False,
    assets: Assets = "inline",
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run what is not in the folder yet, and write the report."""
    session = Session(as_json, quiet, out, assets)
    from mayfly.sweep.command import run_sweep
    from mayfly.sweep.run import shard_of
    from mayfly.workers.workers import workers as chosen

    make, part, plan = chosen(workers, cluster, certificates), shard_of(shard), _plan(file, overrides, duration)
    with session.progress(f"sweep {file.name}") as progress:
        found, files = run_sweep(
            plan,
            out,
            f"Sweep {file.stem}",
            metrics=metrics,
            shard=part,
            make_workers=make,
            retry_failed=retry_failed,
            progress=progress,
            placed=session.placed,
        )
    where = (
        [f"report: {files['report']}"]
        if files
        else [f"results: {out}; `mayfly sweep report` makes the report of all parts"]
    )
    session.tell(found, {"files": files}, where)
    if found.all_failed():
        raise typer.Exit(FAILED)


@app.command(epilog="Example:  mayfly sweep check results")
def check(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a sweep")],
    as_json: AsJson = False,
) -> None:
    """Read all results, and set aside what is damaged: the sweep runs that again."""
    session = Session(as_json, quiet=True)
    from mayfly.sweep.command import check as checked

    session.tell(checked(folder))


@app.command(epilog="Example:  mayfly sweep certificates cluster-certificates")
def certificates(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write; only its owner may read it")],
    days: Annotated[int, typer.Option(metavar="N", help="They are valid for so long")] = 365,
    as_json: AsJson = False,
) -> None:
    """Make the certificates of a Dask cluster: who has them is in it."""
    session = Session(as_json, quiet=True)
    from mayfly.workers.certificates import make_certificates

    session.tell(make_certificates(folder, days))


@app.command(epilog="Example:  mayfly sweep report sweep.toml --out results")
def report(
    file: File,
    out: Out = Path("mayfly-sweep"),
    metrics: Metrics = None,
    overrides: Overrides = None,
    duration: Duration = None,
    assets: Assets = "inline",
    as_json: AsJson = False,
) -> None:
    """Write the report of what is in the folder; nothing runs."""
    session = Session(as_json, quiet=True, out=out, assets=assets)
    from mayfly.sweep.command import report_so_far

    plan, title = _plan(file, overrides, duration), f"Sweep {file.stem}"
    found, missing, files = report_so_far(plan, out, title, metrics=metrics, placed=session.placed)
    session.tell(
        found, {"files": files, "missing": missing}, [f"{missing:,} runs are missing", f"report: {files['report']}"]
    )


@app.command(epilog="""Example:  mayfly sweep query results "select discipline, avg(drops) from results group by 1" """)
def query(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a sweep")],
    sql: Annotated[
        str, typer.Argument(metavar="SQL", help="Over the table results, and records where they are kept (DuckDB)")
    ] = "from results",
    csv: Annotated[bool, typer.Option("--csv", help="Comma-separated values")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask the results by SQL."""
    session = Session(as_json, quiet=True)
    from mayfly.sweep.answer import query as ask

    found = ask(folder, sql)
    if as_json:
        session.print_json({"columns": found.columns, "rows": json.loads(found.write_json())})
    elif csv:
        print(found.write_csv().rstrip("\n"))
    else:
        from mayfly.show.terminal import plain_table

        session.print(plain_table(found))


def register(root: typer.Typer) -> None:
    """Adds the group."""
    root.add_typer(app, name="sweep")
