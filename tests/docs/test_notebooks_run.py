"""The notebooks of the pages: every code cell runs, in the order of the notebook, and shows something where it says so.

The site runs them in Jupyter's own kernel (``docs/conf.py``); here nothing of Jupyter is needed.
"""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted(path for path in (ROOT / "docs").rglob("*.ipynb") if "_build" not in path.parts)


def run_cell(source, names):
    """Run a cell as Jupyter does: the value of a last expression is what it shows."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder that stands to the captures as that of the notebook does."""
    place = tmp_path / "docs" / "tutorials"
    place.mkdir(parents=True)
    (tmp_path / "captures").symlink_to(ROOT / "captures")
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
@pytest.mark.slow
def test_a_notebook_runs_from_top_to_bottom(path, folder, capsys):
    names, shown = {"__name__": "__main__"}, []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            shown.append(run_cell("".join(cell["source"]), names))
    assert any(hasattr(value, "_repr_html_") and "<svg" in value._repr_html_() for value in shown)
    assert re.fullmatch(r"<Comparison: [^\n]+>\n", capsys.readouterr().out)
    assert list(folder.iterdir()) == [], "a notebook leaves no files"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_is_kept_without_outputs(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert notebook["nbformat"] == 4 and len(code) >= 3
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_there_is_a_notebook():
    assert NOTEBOOKS
