"""The tables of docs/reference.md hold every discipline, option, field and command of the package."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

import mayfly
from mayfly.laws.registry import LAWS
from mayfly.models.queue.policies import POLICIES
from mayfly.scenario.scenario import Workload, field_names
from mayfly.workload.formats.registry import FORMATS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tables():
    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        import reference_tables
    finally:
        sys.path.pop(0)
    return reference_tables


def first_cells(markdown: str) -> set[str]:
    return set(re.findall(r"^\| \[?`([\w-]+)`", markdown, re.MULTILINE))


def test_every_discipline_has_a_row_and_a_page(tables, monkeypatch):
    rows = first_cells(tables.disciplines())
    assert rows == {row["id"] for row in mayfly.disciplines()}
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    import discipline_pages as pages

    assert set(pages.pages()) == rows


def test_the_readme_has_the_disciplines_of_the_registry_where_they_run(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    import readme_table

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme_table.between(readme, readme_table.families()) == readme, "make readme"
    rows = [line.strip("|").split("|") for line in readme_table.families().splitlines()]
    head, *families = [[cell.strip() for cell in row] for row in rows if "---" not in row[0]]
    shown = {}
    for cells in families:
        for place, cell in zip(head, cells, strict=True):
            shown |= {id: (cells[0], place) for id in re.findall(r"`(\w+)`", cell)}
    assert shown.keys() == {row["id"] for row in mayfly.disciplines()}
    assert shown["lfq"] == ("fair queueing", "with Mayfly's kernel module")
    assert shown["fq_codel"] == ("fair queueing", "in Linux as it comes")
    assert shown["srpt"][1].startswith("a bound")
    assert "`dualpi2` (in no kernel of Debian)" in readme
    with pytest.raises(ValueError, match="once each"):
        readme_table.between(readme.replace(readme_table.END, ""), "")


def test_the_page_of_kernels_has_every_queue_discipline_of_linux(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    import readme_table

    page = readme_table.KERNELS.read_text(encoding="utf-8")
    assert readme_table.between(page, readme_table.by_kernel()) == page, "make readme"
    of_linux = [row for row in mayfly.disciplines() if "kernel" in row["runs_on"]["places"]]
    assert len(of_linux) == len(re.findall(r"^\| `\w+` \|", readme_table.by_kernel(), re.MULTILINE)) > 10
    (dualpi2,) = re.findall(r"^\| `dualpi2` \| (.*) \|$", page, re.MULTILINE)
    assert set(dualpi2.split(" | ")) == {"not set", "not there"}


def test_every_queue_discipline_of_the_kernel_has_its_page_in_its_source(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    import discipline_pages as pages

    found = pages.kernel_pages()
    assert set(found) == {file.stem for file in (ROOT / "kernel").glob("sch_*.c")} - {"sch_common"}
    for name, text in found.items():
        assert text.startswith(f"# `{name}`\n\n") and "| `split`, `nosplit` |" in text
    (tmp_path / "sch_bare.c").write_text("/* Nothing. */\n")
    monkeypatch.setattr(pages, "KERNEL", tmp_path)
    with pytest.raises(ValueError, match=r"sch_bare\.c: must have its documentation"):
        pages.kernel_pages()


def test_the_pages_may_be_written_by_several_workers_at_once(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "docs" / "_ext")
    import discipline_pages as pages

    text = "# A page\n" * 20_000
    with ThreadPoolExecutor(8) as workers:
        for turn in range(20):
            folder = tmp_path / str(turn)
            folder.mkdir()
            begin = Barrier(8)

            def write(_, folder=folder, begin=begin):
                begin.wait(30)
                return pages._put(folder, "*.md", {"one": text, "other": text})

            assert set(map(tuple, workers.map(write, range(8)))) == {(folder / "one.md", folder / "other.md")}
            assert sorted(file.name for file in folder.iterdir()) == ["one.md", "other.md"]
            assert (folder / "one.md").read_text(encoding="utf-8") == text


def test_disciplines_stand_in_their_families(tables):
    text = tables.disciplines()
    families = {row["family"] for row in mayfly.disciplines()}
    assert text.count("| id | what it does |") == len(families)
    assert all(f"--disciplines {family.replace(' ', '-')}`" in text for family in families)
    assert text.index("`fifo`") < text.index("`las`") < text.index("`scfq`")
    assert all(row["when_full"] in text for row in mayfly.disciplines())


def test_a_list_shows_its_default_as_it_is_written(tables):
    levels = {"name": "levels", "default": [1e4, 1e5], "min": 1.0, "max": 1e9, "most": 7}
    assert tables._default(levels) == "`10000:100000`"
    assert tables._bounds(levels) == "up to 7 ascending, 1 to 1000000000"


def test_every_option_shows_its_default_and_bounds(tables):
    text = tables.options()
    assert text.count("\n") == 1 + sum(len(row["params"]) for row in mayfly.disciplines())
    assert re.search(r"\| `efd` \| `threshold` \| bytes \| `30000` \| 1 to 1000000000000 \|", text)


def test_every_scenario_field_has_a_row(tables):
    text = tables.scenario_fields()
    arrays = {*field_names()} - {*field_names(inside_arrays=True)}
    assert {name.rpartition(".")[2] for name in {*field_names()} - arrays} <= first_cells(text)
    assert re.search(r"\| `rate` \| rate: bit/s, or `10mbit` \| `10mbit` \|", text)
    assert re.search(r"\| `loss_window` \| `flight` or `cwnd` \| `flight` \|", text)
    assert "[[workload.cbr]]" in text


def test_every_law_has_a_row_with_its_bounds(tables):
    text = tables.laws()
    assert first_cells(text) == set(LAWS)
    assert all(f"`{p.name}` {p.bounds()}" in text for law in LAWS.values() for p in law.parameters)


def test_every_law_of_the_models_has_a_row(tables):
    text = tables.service_laws()
    assert first_cells(text) == {*LAWS, "deterministic", "sample"} - {"constant", "empirical"}


def test_every_policy_has_a_row_with_its_source(tables):
    text = tables.policies()
    assert first_cells(text) == set(POLICIES)
    assert all(policy.source in text for policy in POLICIES.values())
    linked = re.findall(r"\.\./disciplines/(\w+)\.md", text)
    assert linked == [policy.discipline for policy in POLICIES.values() if policy.discipline]


def test_every_page_of_models_is_listed_with_a_sentence(tables):
    pages = {page.name for page in (ROOT / "docs" / "models").glob("*.md")} - {"index.md"}
    rows = re.findall(r"^\| \[\]\(([\w.-]+)\) \| (.+) \|$", tables.model_pages(), re.MULTILINE)
    assert {name for name, _ in rows} == pages
    assert all(len(sentence.split()) >= 5 for _, sentence in rows)


def test_every_source_has_a_row(tables):
    text = tables.sources()
    arrays = {name for name in field_names(Workload) if f"{name}." in " ".join(field_names(Workload, "", True))}
    assert arrays - {"sizes"} == set(re.findall(r"^\| `\[+workload\.(\w+)\]", text, re.MULTILINE))
    assert {"cbr", "on_off", "vbr", "replay", "short_term", "permanent", "batch", "web", "http"} <= arrays
    assert "`[workload]`" in text


def test_every_command_lists_its_options(tables):
    text = tables.commands()
    for name in ("compare", "whatif", "simulate", "disciplines"):
        assert f"**`mayfly {name}`**" in text
    assert "`--rate`, required" in text


def test_bars_and_stars_in_a_cell_do_not_break_the_table(tables):
    assert tables.table(("a",), [("x|y *z*",)]).splitlines()[-1] == "| x\\|y \\*z\\* |"


def test_every_format_of_flows_has_a_row(tables):
    text = tables.flow_formats()
    assert first_cells(text) == set(FORMATS)
    assert "`.parquet`" in text and "| no |" in text
