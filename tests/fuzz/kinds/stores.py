"""Folders of sweeps, damaged in every kind of way: what is in them is named, set aside and run again."""

import functools
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from case import Case
from hypothesis import strategies as st
from values import ANYTHING, column, damaged, mostly

from mayfly.sweep.plan import load_plan
from mayfly.sweep.run import sweep
from mayfly.workers.workers import Workers

SWEEP = b"""
scenario = "wired"
disciplines = "fifo,efd"
seeds = 2

[set]
duration = "300ms"

[fields]
"network.buffer" = [20, 100]
"""


class _Here(Workers):
    """Runs each job at once, in this process."""

    def __init__(self) -> None:
        self._done: list[Any] = []

    def room(self) -> bool:
        return not self._done

    def busy(self) -> bool:
        return bool(self._done)

    def submit(self, job: Any, key: str) -> None:
        self._done.append((key, job.run(key)))

    def wait(self) -> Any:
        yield self._done.pop()

    def close(self) -> None:
        pass


@functools.cache
def sound() -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    """Rows of the sweep, and the files of its folder."""
    with tempfile.TemporaryDirectory(prefix="mayfly-fuzz-store-") as place:
        folder = Path(place)
        (folder / "sweep.toml").write_bytes(SWEEP)
        sweep(load_plan(folder / "sweep.toml"), folder / "store", make_workers=_Here)
        files = [
            path for path in (folder / "store").rglob("*") if path.is_file() and path.suffix in (".parquet", ".json")
        ]
        rows = [row for path in files if path.parent.name == "shards" for row in pl.read_parquet(path).to_dicts()]
        return rows, {f"store/{path.relative_to(folder / 'store')}": path.read_bytes() for path in files}


def _loose(row: Any, key: Any) -> tuple[str, bytes]:
    return f"store/runs/{key}.json", json.dumps(row).encode("utf-8", "surrogatepass")


def _shard(rows: list[dict[str, Any]], metadata: bool) -> tuple[str, bytes]:
    buffer = io.BytesIO()
    names = dict.fromkeys(name for row in rows for name in row)
    columns = []
    for name in names:
        values = [row.get(name) for row in rows]
        columns.append(column(name, values))
    pl.DataFrame(columns).write_parquet(buffer, metadata={"mayfly.sweep": "1"} if metadata else None)
    return "store/shards/foreign.parquet", buffer.getvalue()


@st.composite
def _changed(draw: st.DrawFn, row: dict[str, Any]) -> dict[str, Any]:
    """A row with a few of its figures changed, of another type or gone."""
    found = dict(row)
    for _ in range(draw(st.integers(1, 3))):
        name = draw(
            mostly(
                st.sampled_from(sorted(found)),
                st.sampled_from(["key", "status", "seed", "variant", "new", "field.x"]),
                2,
            )
        )
        if draw(st.integers(0, 3)) == 3:
            found.pop(name, None)
        else:
            found[name] = draw(ANYTHING)
    return found


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A damaged folder: checked, asked, reported, and now and then swept again."""
    rows, files = sound()
    given, links = dict(files), {}
    for _ in range(draw(st.integers(1, 3))):
        row = draw(st.sampled_from(rows))
        kind = draw(
            st.sampled_from(
                [
                    "damage",
                    "damage",
                    "gone",
                    "loose",
                    "loose",
                    "unsigned",
                    "shard",
                    "shard",
                    "foreign",
                    "link",
                    "folder",
                    "lock",
                    "junk",
                ]
            )
        )
        if kind == "damage" and given:
            name = draw(st.sampled_from(sorted(given)))
            given[name] = draw(damaged(given[name], one_in=1))
        elif kind == "gone" and given:
            del given[draw(st.sampled_from(sorted(given)))]
        elif kind in ("loose", "unsigned"):
            changed = draw(_changed(row)) if draw(st.booleans()) else dict(row)
            written = (
                changed
                if kind == "unsigned"
                else {"sha256": draw(st.sampled_from(["", "0" * 64, None, 1])), "row": changed}
            )
            name, content = _loose(draw(mostly(st.just(written), ANYTHING, 6)), row["key"])
            given[name] = draw(damaged(content, one_in=4))
        elif kind == "shard":
            name, content = _shard(
                [draw(_changed(one)) for one in draw(st.lists(st.sampled_from(rows), max_size=3))], draw(st.booleans())
            )
            given[name] = draw(damaged(content, one_in=4))
        elif kind == "foreign":
            given["store/shards/foreign.parquet"] = draw(st.sampled_from([b"", b"PAR1", b"PAR1" * 4, b"\x00" * 100]))
        elif kind == "link":
            name = draw(
                st.sampled_from(
                    [
                        "store/runs/x.json",
                        "store/shards/x.parquet",
                        "store/.lock",
                        "store/damaged",
                        "store/records/x.parquet",
                        "store/.lock-1-of-1",
                    ]
                )
            )
            links[name] = draw(st.sampled_from(["/dev/zero", "/etc/hostname", "/nonexistent", "/tmp", "x.json", "."]))
        elif kind == "folder":
            given[
                draw(
                    st.sampled_from(
                        ["store/runs/a.json/x", "store/shards/a.parquet/x", "store/damaged", "store/.lock/x"]
                    )
                )
            ] = b"x"
        elif kind == "lock":
            given["store/.lock"] = draw(st.binary(max_size=30))
        else:
            given[
                draw(st.sampled_from(["store/runs/.a.0.partial", "store/runs/a", "store/x", "store/runs/\x1b[2J.json"]))
            ] = draw(st.binary(max_size=30))
    given = {
        name: content
        for name, content in given.items()
        if name not in links and not any(other.startswith(name + "/") for other in given)
    }
    # Links and folders of the same names cannot both be.
    links = {name: to for name, to in links.items() if not any(other.startswith(name + "/") for other in given)}
    given["sweep.toml"] = SWEEP
    commands: list[tuple[str, ...]] = []
    asked = st.sampled_from(["report", "query", "check", "check", "query"])
    for name in draw(st.lists(asked, min_size=1, max_size=3)):
        commands.append(
            {
                "report": ("sweep", "report", "sweep.toml", "--out", "store", "--json"),
                "query": ("sweep", "query", "store", "select * from results", "--json"),
                "check": ("sweep", "check", "store", "--json"),
            }[name]
        )
    if draw(st.integers(0, 15)) == 15:
        commands += [
            commands[-1],
            ("sweep", "check", "store", "--json"),
            ("sweep", "run", "sweep.toml", "--out", "store", "--workers", "1", "--json", "--quiet"),
        ]
    return Case("stores", tuple(commands), given, links)
