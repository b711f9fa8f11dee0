"""A folder of results from a stranger: nothing in it is unpickled, run or imported."""

import ast
import base64
import io
import os
import pickle
import shelve
from pathlib import Path

import polars as pl
import pytest
from files import grid
from invocation import mayfly_here

import mayfly
from mayfly.sweep.plan import load_plan
from mayfly.sweep.run import sweep
from mayfly.workers.workers import Local

PACKAGE = Path(mayfly.__file__).parent
UNPICKLING = {
    "pickle",
    "cPickle",
    "_pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "dbm",
    "runpy",
    "code",
}
RUNNING = {"eval", "exec", "compile"}


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, place):
        self._place = place

    def __reduce__(self):
        return os.mkdir, (str(self._place),)


def names_of(tree):
    """Modules that a file imports, and built-in functions that it calls by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in RUNNING:
            yield node.func.id


def test_nothing_of_mayfly_unpickles_or_runs_text():
    found = {
        str(path.relative_to(PACKAGE)): bad
        for path in PACKAGE.rglob("*.py")
        if (bad := (UNPICKLING | RUNNING) & set(names_of(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert found == {}
    assert set(names_of(ast.parse("import pickle\nfrom shelve import open\neval('1')"))) == {"pickle", "shelve", "eval"}


@pytest.fixture
def trapped(tmp_path):
    """A sound folder with traps in it, and where they would leave their mark."""
    plan, out, mark = grid(tmp_path, seeds=1, duration="1s"), tmp_path / "out", tmp_path / "sprung"
    sweep(load_plan(plan), out, make_workers=lambda: Local(1))
    trap = pickle.dumps(Trap(mark))
    for name in (
        "runs/x.pkl",
        "shards/x.pickle",
        "records/x.pkl",
        "x.pkl",
        "sweep.py",
        "conftest.py",
        "sitecustomize.py",
    ):
        (out / name).write_bytes(
            trap if "pkl" in name or "pickle" in name else f"import os; os.mkdir({str(mark)!r})".encode()
        )
    # Bytes in a column, and in the metadata that pyarrow and pandas have for objects of Python.
    buffer = io.BytesIO()
    row = {
        "key": ["a"],
        "status": ["done"],
        "discipline": ["fifo"],
        "seed": [1],
        "short.mean_s": [0.1],
        "object": [trap],
    }
    text = base64.b64encode(trap).decode()
    pl.DataFrame(row).write_parquet(
        buffer, metadata={"ARROW:extension:name": "arrow.py_extension_type", "pandas": text}
    )
    (out / "shards" / "foreign.parquet").write_bytes(buffer.getvalue())
    return plan, out, mark


def test_traps_in_a_folder_are_not_sprung(trapped, monkeypatch):
    plan, out, mark = trapped
    with monkeypatch.context() as patch:
        for module, name in ((pickle, "loads"), (pickle, "load"), (pickle, "Unpickler"), (shelve, "open")):
            patch.setattr(module, name, lambda *_, **__: pytest.fail("something was unpickled"))
        for arguments in (("report", plan, "--out", out), ("query", out, "from results"), ("check", out)):
            ended = mayfly_here("sweep", *arguments)
            assert ended.status in (0, 2)
            assert "foreign.parquet" in ended.out + ended.err
        ended = mayfly_here("sweep", "report", plan, "--out", out)
    assert ended.status == 0 and not mark.exists()


def test_the_trap_is_one(tmp_path):
    pickle.loads(pickle.dumps(Trap(tmp_path / "sprung")))
    assert (tmp_path / "sprung").is_dir()
