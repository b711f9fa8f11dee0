"""The freeze sees a change of a result, and nothing where there is none."""

import json
import sys
import tomllib
from pathlib import Path

import differences
import digests
import parts
import polars as pl
import pytest
from running import Mayfly, Outcome

HERE = Path(__file__).parent
PLACE = parts.Place(Path("/tmp/freeze"), parts.ROOT)
COMMAND = "compare wired --disciplines fifo,efd --duration 3s"


def main(arguments: list[str]) -> int:
    """`python tests/freeze`, in this process."""
    import runpy

    return runpy.run_path(str(HERE / "__main__.py"))["main"](arguments)


@pytest.fixture
def tiny(tmp_path):
    place = parts.Place(tmp_path, parts.ROOT)
    # The tree this test belongs to, whichever is installed.
    mayfly = Mayfly([Path(entry) for entry in sys.path if (Path(entry) / "mayfly" / "cli").is_dir()])
    return lambda command=COMMAND: parts._scenario(place, "tiny", command, mayfly)


def test_one_tree_frozen_twice_does_not_differ_and_another_seed_does(tiny):
    first = tiny()
    assert {"tiny", "tiny: out/flows.parquet fifo", "tiny: out/samples.parquet efd"} <= first.keys()
    assert first["tiny"]["status"] == 0
    assert first["tiny"]["disciplines.efd.short.mean_s"] > 0
    assert list(differences.differences({"scenarios": first}, {"scenarios": tiny()})) == []
    found = list(differences.differences({"scenarios": first}, {"scenarios": tiny(f"{COMMAND} --seed 2")}))
    assert {"seed", "column start_s", "disciplines.efd.short.mean_s"} <= {one.key for one in found}


def test_a_value_a_type_and_an_order_are_told_apart():
    frame = pl.DataFrame({"a": [1.0, None], "b": [1, 2], "c": ["x", None]})
    item = digests.table(frame)

    def changed(other: pl.DataFrame) -> set[str]:
        return {key for key, value in digests.table(other).items() if item.get(key) != value}

    assert changed(frame.clone()) == set()
    assert changed(frame.select("b", "a", "c")) == {"order"}
    assert changed(frame.with_columns(pl.Series("a", [1.0 + 2**-52, None]))) == {"column a"}
    assert changed(frame.with_columns(pl.Series("a", [1.0, 0.0]))) == {"column a"}
    assert changed(frame.with_columns(pl.col("b").cast(pl.Int32))) == {"column b"}
    assert changed(frame.with_columns(pl.Series("c", ["x", "None"]))) == {"column c"}
    assert changed(frame.head(1)) == {"rows", "column a", "column b", "column c"}


def test_a_document_names_the_key_that_differs_whatever_the_order_of_the_keys():
    one = {"a": {"x": 1, "cpu_s": 2.5}, "rows": [{"id": "p", "v": 1}, {"id": "q", "v": [1] * 9}]}
    other = {"rows": [{"v": 1, "id": "p"}, {"v": [1] * 8 + [2], "id": "q"}], "a": {"cpu_s": 9.5, "x": 1}}
    before, after = ({"json": {"item": digests.document(value)}} for value in (one, other))
    assert [found.key for found in differences.differences(before, after)] == ["rows.q.v"]
    assert digests.document(one) == digests.document(json.loads(json.dumps(one, sort_keys=True)))


def test_lists_of_nameless_objects_are_kept_by_column():
    rows = [{"x": k, "y": -k} for k in range(100)]
    before, after = digests.document({"points": rows}), digests.document({"points": [*rows[:-1], {"x": 99, "y": 0}]})
    assert {key for key in before if before[key] != after[key]} == {"digest", "points.*.y"}


def test_last_bits_count_but_where_the_baseline_itself_is_unsteady():
    one, other = ({"s": 0.1 * k} for k in (1, 1 + 1e-15))
    assert digests.document(one) != digests.document(other)
    name = "page: compare wired --models-path --json"
    assert digests.document(one, name=name) == digests.document(other, name=name)
    assert digests.document(one, name=name) != digests.document({"s": 0.1 + 1e-9}, name=name)


def test_absolute_places_do_not_count():
    place = parts.Place(Path("/var/a"), Path("/other/tree"))
    found = digests.document({"error": "/var/a/page/x.csv: no", "at": "/other/tree/y"}, place.names())
    assert (found["error"], found["at"]) == ("FOLDER/page/x.csv: no", "CHECKOUT/y")


def test_every_claim_is_an_item():
    claims = [{"page": page, "id": "one", "verdict": "agrees"} for page in ("p", "q")]
    document = {"date": "today", "claims": claims, "experiments": []}
    found = parts.verdicts(Outcome(0, json.dumps(document), ""), PLACE)
    assert list(found) == ["document", "claim p/one", "claim q/one"]
    assert found["claim q/one"]["verdict"] == "agrees" and "date" not in found["document"]


def write(path: Path, **keys: object) -> str:
    path.write_text(json.dumps({"parts": {"json": {"page: compare": keys}}}), encoding="utf-8")
    return str(path)


def test_a_comparison_fails_unless_all_that_differs_is_allowed_with_a_reason(tmp_path, capsys):
    before = write(tmp_path / "before.json", drops=1, error="old words", gone=1)
    after = write(tmp_path / "after.json", drops=2, error="new words", came=1.0)
    allowed = tmp_path / "allowed.toml"
    allowed.write_text(
        '[[allowed]]\npart = "json"\nitem = "page: *"\nkey = "error"\nreason = "The sentence is plainer."\n'
    )
    assert main(["compare", before, before, "--allowed", str(allowed)]) == 0
    capsys.readouterr()
    assert main(["compare", before, after, "--allowed", str(allowed)]) == 1
    told = capsys.readouterr().out
    assert "json: 3 differences in 3 keys" in told and "page: compare: 1 -> 2" in told
    assert "1 differences: The sentence is plainer." in told and "old words" not in told
    allowed.write_text('[[allowed]]\npart = "*"\nitem = "*"\nkey = "*"\nreason = "All may differ."\n')
    assert main(["compare", before, after, "--allowed", str(allowed)]) == 0
    allowed.write_text('[[allowed]]\npart = "*"\nitem = "*"\nkey = "*"\nreason = " "\n')
    with pytest.raises(ValueError, match="no reason"):
        main(["compare", before, after, "--allowed", str(allowed)])


def test_an_item_that_is_gone_is_a_difference():
    found = list(differences.differences({"json": {"x": {"a": 1}}}, {"json": {"y": {"a": 1}}}))
    assert [(one.item, one.before, one.after) for one in found] == [
        ("x", "present", "(absent)"),
        ("y", "(absent)", "present"),
    ]


def test_allowed_differences_of_the_repository_can_be_read():
    differences.read_allowed(HERE / "allowed.toml")


def test_every_ready_scenario_is_frozen():
    names = {name for name, _ in parts.scenario_jobs(PLACE)}
    assert {path.stem for path in (parts.ROOT / "scenarios").glob("*.toml")} <= names


def test_readme_and_every_how_to_page_with_a_command_are_frozen():
    frozen = {page["name"] for page in tomllib.loads((HERE / "pages.toml").read_text(encoding="utf-8"))["page"]}
    pages = [parts.ROOT / "README.md", *(parts.ROOT / "docs" / "how-to").glob("*.md")]
    used = {page for page in pages if "\n$ mayfly " in page.read_text(encoding="utf-8").replace(".venv/bin/", "")}
    assert {str(page.relative_to(parts.ROOT)) for page in used} <= frozen


def test_every_form_of_a_replay_is_frozen():
    from mayfly.workload.replayed import FORMS

    names = {name for name, _ in parts.scenario_jobs(PLACE)}
    assert {f"whatif, {replay}{more}" for replay in FORMS for more in ("", " --rtt 40ms", " --load 0.8")} <= names
    assert {f"whatif, 16 hours, {replay}" for replay in FORMS} <= names


class Complains(Mayfly):
    """A tree that answers every command with one complaint."""

    def run(self, arguments, folder):
        return Outcome(2, "", self.complaint)


def test_where_there_is_no_guest_its_runs_are_skipped_with_the_reason_and_other_failures_are_kept(tmp_path, capsys):
    place, mayfly = parts.Place(tmp_path, parts.ROOT), Complains()
    mayfly.complaint = "mayfly: no test kernel in /tmp: build it once"
    assert [work(mayfly) for _, work in parts.engine_jobs(place)] == [{}]
    assert "engine: transfers: skipped: mayfly: no test kernel in /tmp" in capsys.readouterr().err
    mayfly.complaint = "mayfly: the guest failed"
    assert [item["status"] for _, work in parts.engine_jobs(place) for item in work(mayfly).values()] == [2]
