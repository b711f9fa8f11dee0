"""What a sweep found: figures at each point, and results by SQL."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from mayfly import _native
from mayfly.errors import MayflyError
from mayfly.metrics.intervals import student_ci95
from mayfly.show.notebook import Result
from mayfly.summary_types import Accounted
from mayfly.sweep.run import Swept, written_plan
from mayfly.sweep.store import Store
from mayfly.text.nearest import hint
from mayfly.workload.account import account_of_rows

if TYPE_CHECKING:
    from rich.table import Table

METRICS = ("short.mean_s", "long.mean_s", "utilisation", "drops")
"""Figures shown when no others are asked for."""

ACCOUNT = "account."
"""How the names of numbers of an account begin."""

SHOWN = 60
"""Rows of the table in a terminal."""


@dataclass(frozen=True, repr=False)
class Found(Result):
    """Figures of a sweep, the mean over the seeds at each point.

    Parameters
    ----------
    swept : Swept
    metrics : tuple of str
    folder : str
        Of the results.
    """

    swept: Swept
    metrics: tuple[str, ...]
    folder: str

    def figures(self) -> list[dict[str, Any]]:
        """One row for each point and discipline, in the order of the plan.

        ``fields, discipline, seeds, failed``, and by figure ``mean`` and ``ci95`` (Student's t over the seeds).
        """
        names = [f"field.{name}" for name in self.swept.plan.names]
        parts: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in self.swept.rows:
            parts.setdefault((*(row.get(name) for name in names), row["discipline"]), []).append(row)
        order = {
            (*(point.get(name) for name in self.swept.plan.names), label): (place, rank)
            for place, point in enumerate(self.swept.plan.points)
            for rank, label in enumerate(self.swept.plan.disciplines)
        }
        return [
            _figures(self, key, parts[key]) for key in sorted(parts, key=lambda key: order.get(key, (len(order), 0)))
        ]

    def failures(self) -> list[dict[str, Any]]:
        """Runs that failed, with the reason."""
        names = ("key", "discipline", "seed", "error")
        fields = [f"field.{name}" for name in self.swept.plan.names]
        failed = [row for row in self.swept.rows if row["status"] == "failed"]
        return [{name: row.get(name) for name in (*names, *fields)} for row in failed]

    def all_failed(self) -> bool:
        """Whether there are runs, and none gave a figure."""
        return bool(self.swept.rows) and all(row["status"] == "failed" for row in self.swept.rows)

    def account(self) -> list[Accounted]:
        """Accounts of the flow list, one for each time at which runs end; none where flows are drawn."""
        found = {tuple(sorted(numbers.items())) for row in self.swept.rows if (numbers := _numbers_of(row))}
        source = [] if self.swept.plan.flows is None else [self.swept.plan.flows]
        accounts = (_account(dict(numbers), source) for numbers in sorted(found))
        return sorted(accounts, key=lambda account: account["used"]["count"])

    def document(self) -> dict[str, Any]:
        """The answer as JSON."""
        return {
            **written_plan(self.swept.plan),
            "ran": self.swept.ran,
            "found": self.swept.found,
            "metrics": list(self.metrics),
            "rows": self.figures(),
            "failures": self.failures(),
            "folder": self.folder,
            **({"account": accounts} if (accounts := self.account()) else {}),
        }

    def table(self) -> "Table":
        """Figures by point and discipline."""
        from rich.table import Table

        from mayfly.text.readable import digits

        title = "Means over the seeds ± half of the 95 % interval"
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        names = self.swept.plan.names
        ends = [name.rpartition(".")[2] for name in names]
        # The last part of a name, where no other field has the same.
        heads = [end if ends.count(end) == 1 else name for name, end in zip(names, ends, strict=True)]
        for name in (*heads, "discipline"):
            table.add_column(name)
        table.add_column("seeds", justify="right")
        for name in self.metrics:
            table.add_column(name, justify="right")
        for row in self.figures()[:SHOWN]:
            cells = [str(row["fields"].get(name, "")) for name in self.swept.plan.names]
            values = []
            for name in self.metrics:
                mean, interval = row[name]["mean"], row[name]["ci95"]
                text = "" if mean is None else digits(mean)
                values.append(text if interval is None else f"{text} ±{digits((interval[1] - interval[0]) / 2)}")
            table.add_row(*cells, row["discipline"], str(row["seeds"]), *values)
        return table

    def sentences(self) -> list[str]:
        """What happened, in words."""
        swept, said = self.swept, []
        said.append(_runs_done(swept.ran, swept.found))
        if len(self.figures()) > SHOWN:
            said.append(
                f"{SHOWN} of {len(self.figures()):,} rows are shown: the report and `mayfly sweep query` have all"
            )
        if swept.seeds:
            needed = sorted(swept.seeds.values())
            said.append(
                f"seeds needed at a point: {needed[0]} to {needed[-1]}, half of them at most {needed[len(needed) // 2]}"
            )
        if failed := self.failures():
            first = failed[0]
            where = f"{first['discipline']}, seed {first['seed']}"
            said.append(f"{len(failed):,} runs failed, the first ({where}): {first['error']}")
        return said


def _numbers_of(row: Mapping[str, Any]) -> dict[str, int]:
    """The numbers of the account in a row, such as ``seen.count``."""
    names = (name for name in row if name.startswith(ACCOUNT) and row[name] is not None)
    return {name.removeprefix(ACCOUNT): int(row[name]) for name in names}


def _account(numbers: Mapping[str, int], source: Sequence[str]) -> Accounted:
    """An account from its numbers."""
    account = _native.Account()
    amounts: dict[str, list[int]] = {}
    for name, value in numbers.items():
        of, _, unit = name.rpartition(".")
        amounts.setdefault(of, [0, 0])[unit == "bytes"] = value
    account.see(*amounts.pop("seen", (0, 0)))
    account.take(*amounts.pop("used", (0, 0)))
    for reason, amount in amounts.items():
        account.leave_out(reason.removeprefix("left_out."), *amount)
    return account_of_rows(account, source[0] if source else "")


def _runs_done(ran: int, reused: int) -> str:
    """How many runs there were, and how many of an earlier call were good enough.

    Examples
    --------
    >>> _runs_done(54, 0), _runs_done(0, 1)
    ('54 runs done, none reused', 'no run done, 1 reused')
    """
    done = "no run" if ran == 0 else f"{ran:,} run{'s' if ran != 1 else ''}"
    return f"{done} done, {f'{reused:,}' if reused else 'none'} reused"


def _figures(found: Found, key: tuple[Any, ...], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    done = [row for row in rows if row["status"] == "done"]
    fields = dict(zip(found.swept.plan.names, key, strict=False))
    row: dict[str, Any] = {"fields": fields, "discipline": key[-1], "seeds": len(done), "failed": len(rows) - len(done)}
    for name in found.metrics:
        values = [r[name] for r in done if r.get(name) is not None]
        row[name] = {"mean": sum(values) / len(values) if values else None, "ci95": student_ci95(values)}
    return row


def answer(swept: Swept, folder: str | os.PathLike[str], metrics: Sequence[str] | None = None) -> Found:
    """The figures of a sweep.

    Parameters
    ----------
    swept : Swept
    folder : path
        Of the results.
    metrics : sequence of str, optional
        Figures, as the results name them.

    Returns
    -------
    Found

    Raises
    ------
    MayflyError
        No run has such a figure.
    """
    metrics = tuple(metrics) if metrics else METRICS
    known = {
        name for row in swept.rows if row["status"] == "done" for name, v in row.items() if isinstance(v, int | float)
    }
    if known and (absent := [name for name in metrics if name not in known]) and metrics != METRICS:
        raise MayflyError(f"--metric {absent[0]}: no run has it{hint(absent[0], known, cutoff=0.3)}")
    return Found(swept, metrics, str(folder))


def query(folder: str | os.PathLike[str], sql: str) -> pl.DataFrame:
    """Results by SQL.

    Parameters
    ----------
    folder : path
        Of a sweep.
    sql : str
        In DuckDB's dialect, over the table ``results``, and ``records`` where flow records are kept.

    Returns
    -------
    polars.DataFrame

    Raises
    ------
    MayflyError
        No such folder, a statement that DuckDB refuses, or no DuckDB.

    Notes
    -----
    The statement sees the results and no other file.
    """
    try:
        import duckdb
    except ImportError:
        raise MayflyError("query: DuckDB is not installed; pip install 'mayfly[sweep]' brings it") from None

    store = Store(folder)
    results = store.table()
    if not results.width:
        raise MayflyError(f"{folder}: has no result yet")
    connection = duckdb.connect(":memory:")
    try:
        with tempfile.TemporaryDirectory(prefix="mayfly-") as place:
            results.write_parquet(Path(place) / "results.parquet")
            connection.execute("create table results as from read_parquet(?)", [str(Path(place) / "results.parquet")])
            # DuckDB sees what we have written, and no file of a stranger.
            kept: list[str] = []
            for key, records in store.records():
                kept.append(str(Path(place) / f"{len(kept)}.parquet"))
                records.with_columns(key=pl.lit(key)).write_parquet(kept[-1])
            if kept:
                rows = "read_parquet(?, union_by_name = true)"
                connection.execute(f"create table records as from {rows}", [kept])
        connection.execute("set enable_external_access = false")
        found = connection.execute(sql)
        if found.description is None:
            raise MayflyError("the statement gives no table: it must be a select")
        names = [column[0] for column in found.description]
        return pl.DataFrame(found.fetchall(), schema=_told_apart(names), orient="row", infer_schema_length=None)
    except duckdb.Error as error:
        reason = (str(error).splitlines() or ["?"])[0]
        raise MayflyError(f"query: {reason}; the columns are {_some(results.columns)}") from None
    finally:
        connection.close()


def _told_apart(names: Sequence[str]) -> list[str]:
    """Names of columns, a second one of a name with its place."""
    return [name if name not in names[:place] else f"{name}_{place + 1}" for place, name in enumerate(names)]


def _some(names: Sequence[str]) -> str:
    first = [name if name.isidentifier() else f'"{name}"' for name in names[:24]]
    return ", ".join(first) + (f" and {len(names) - 24} more" if len(names) > 24 else "")
