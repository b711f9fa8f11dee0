"""Printed numbers and reasons are data: read with checks, and in no other place."""

import ast
from pathlib import Path

import pytest

import mayfly_papers
from mayfly.errors import MayflyError
from mayfly_papers.declare import data
from mayfly_papers.declare.declaration import Printed
from mayfly_papers.pages import PAGES

HOME = Path(mayfly_papers.__file__).parent
PACKAGES = {
    ".".join(("mayfly_papers", *file.relative_to(HOME).parent.parts)): file.parent for file in HOME.rglob("claims.py")
}


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A package with files of our choice."""

    def made(**texts):
        folder = tmp_path / "a_page"
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        for name, text in texts.items():
            (folder / f"{name}.toml").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        data.printed.cache_clear(), data.reasons.cache_clear()
        return "a_page"

    yield made
    import sys

    sys.modules.pop("a_page", None)


def test_a_number_stands_alone_or_with_its_interval(page):
    found = data.printed(
        page(printed="[table_1.short]\nfifo = { value = 0.39, ci95 = [0.379, 0.4] }\nlas = [1, 2.5]\n")
    )
    assert found == {"table_1": {"short": {"fifo": Printed(0.39, (0.379, 0.4)), "las": (1, 2.5)}}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = { value = 3, ci95 = [1, 2] }", "a = 3: must be within its interval, 1 to 2"),
        ("a = { value = 3, ci = [1, 4] }", "has value, ci; must have value, and may have ci95"),
        ("a = true", "a = True: must be a number"),
        ("a = ", "a_page, printed.toml: Invalid value"),
    ],
)
def test_what_is_no_printed_number_is_refused(page, text, says):
    with pytest.raises(MayflyError, match=says):
        data.printed(page(printed=text))


REASON = '[[reason]]\nclaims = ["a"]\nverdict = "differs"\ntext = """\nOne line,\nand another."""\n'


def test_a_reason_is_one_line_and_names_its_claims(page):
    assert data.reasons(page(reasons=REASON))["a"].reason == "One line, and another."


@pytest.mark.parametrize(
    ("text", "says"),
    [(REASON * 2, "a has two reasons"), (REASON.replace("differs", "wrong"), "verdict = wrong: must be one of agrees")],
)
def test_a_reason_that_is_none_is_refused(page, text, says):
    with pytest.raises(MayflyError, match=says):
        data.reasons(page(reasons=text))


def test_reasons_are_of_claims_that_there_are():
    claims = {claim.id for page in PAGES for claim in page.claims}
    named = {
        claim for name, folder in PACKAGES.items() if (folder / "reasons.toml").exists() for claim in data.reasons(name)
    }
    assert named and named <= claims
    given = {claim.id for page in PAGES for claim in page.claims if claim.difference is not None}
    assert given == named


def test_no_claim_has_a_printed_number_in_its_code():
    def literal(node):
        return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Printed" and _constants(node.args)

    found = [
        f"{file.relative_to(HOME)}:{node.lineno}"
        for folder in PACKAGES.values()
        for file in folder.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if literal(node)
    ]
    assert found == []
    assert sum((folder / "printed.toml").exists() for folder in PACKAGES.values()) >= 10


def _constants(arguments):
    return any(isinstance(argument, ast.Constant) for argument in arguments)
