"""What a command prints: one JSON document, a table, help."""

import json
import os
import pty
import re
import select
import subprocess
from importlib.metadata import version
from pathlib import Path

import polars as pl
import pytest
from invocation import COMMAND, PLAIN, mayfly, mayfly_here, refused_here

ROOT = Path(__file__).parents[2]
COMMANDS = ["compare", "whatif", "simulate", "estimate", "disciplines"]
SHORT = ["--duration", "5s"]


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def test_simulate_prints_one_document_with_the_keys_of_the_design(out):
    ended = mayfly("simulate", "wired", "--discipline", "efd", "--out", out, "--json", *SHORT)
    assert (ended.status, ended.err) == (0, "")
    document = ended.document
    for name in ("short", "long"):
        assert {"mean_s", "ci95"} <= document[name].keys()
    assert document["flow_table"].keys() == {"mean", "max", "bytes"} and document["flow_table"]["bytes"] > 0
    assert document["family"] == "size-based" and document["marks"] == 0
    assert document["throughput_mbps"].keys() == {"down", "up"}
    for name in (
        "flows_completed",
        "flows_unfinished",
        "utilisation",
        "drops",
        "queue_mean_packets",
        "cpu_s",
        "packet_hops",
    ):
        assert isinstance(document[name], int | float), name
    assert document["command"] == "simulate" and document["id"] == "efd"
    assert document["flows_completed"] + document["flows_unfinished"] == document["workload"]["flows"]
    assert sorted(Path(path).name for path in document["files"].values()) == sorted(os.listdir(out))
    assert "report.html" not in os.listdir(out)


def test_compare_prints_one_document_with_a_row_per_discipline(out):
    ended = mayfly("compare", "wired", "-d", "fifo,efd(threshold=40000, high=las)", "--out", out, "--json", *SHORT)
    assert (ended.status, ended.err) == (0, "")
    rows = ended.document["disciplines"]
    assert [row["id"] for row in rows] == ["fifo", "efd"]
    assert rows[1]["options"] == {"threshold": "40000", "high": "las"}
    assert set(os.listdir(out)) == {"flows.parquet", "samples.parquet", "summary.json", "report.html"}
    assert all(Path(path).is_file() for path in ended.document["files"].values())


def test_whatif_answers_in_words(out):
    capture = ROOT / "tests" / "data" / "tiny.pcapng.gz"
    ended = mayfly_here(
        "whatif", capture, "--rate", "1mbit", "--buffer", "50", "-d", "fifo,efd", "--out", out, "--json"
    )
    assert ended.status == 0, ended.err
    assert ended.document["answer"] and ended.document["capture"]["path"] == str(capture)
    table = mayfly_here("whatif", capture, "--rate", "1mbit", "--buffer", "50", "-d", "fifo,efd", "--out", out)
    assert table.status == 0 and table.err == ""
    flat = " ".join(table.out.split())
    told = ended.document["recommendation"]["sentence"]
    assert flat.startswith(" ".join(told.split())) and "fifo" in flat and "efd" in flat
    assert f"report: {out / 'report.html'}\n" in table.out, "a path is not broken into lines"


def test_disciplines_as_table_and_as_document():
    document = mayfly_here("disciplines", "--json").document
    ids = [row["id"] for row in document["disciplines"]]
    assert {"fifo", "scfq", "las", "lars", "run2c", "efd"} <= set(ids)
    table = mayfly_here("disciplines")
    assert table.status == 0 and all(re.search(rf"^ *{id}\b", table.out, re.MULTILINE) for id in ids)


def test_disciplines_of_a_family_and_of_one_id():
    everything = mayfly_here("disciplines", "--json").document["disciplines"]
    for which, ids in (
        ("size-based", [row["id"] for row in everything if row["family"] == "size-based"]),
        ("efd", ["efd"]),
        ("all", [row["id"] for row in everything]),
    ):
        assert [row["id"] for row in mayfly_here("disciplines", which, "--json").document["disciplines"]] == ids
    keys = {"id", "family", "about", "source", "when_full", "time_driven", "keeps_flow_order", "params"}
    assert all(keys <= row.keys() for row in everything)
    [efd] = mayfly_here("disciplines", "efd", "--json").document["disciplines"]
    text = " ".join(mayfly_here("disciplines", "efd").out.split())
    for param in efd["params"]:
        assert param["name"] in text and " ".join(param["about"].split()) in text
    assert efd["about"] in text and f"drops {efd['when_full']}" in text and "packets or bytes" in text
    assert refused_here("disciplines", "efdd").endswith("lists; did you mean efd?")


def test_the_list_says_of_every_discipline_what_goes_when_the_buffer_is_full():
    rows = mayfly_here("disciplines", "--json").document["disciplines"]
    wide = mayfly_here("disciplines", env={"COLUMNS": "400"}).out
    assert all(f"drops {row['when_full']}" in wide for row in rows)
    assert wide.index("fifo") < wide.index("size-based") < wide.index("queueing")


SEVEN = "fifo,las,las(visit=1s),las(visit=2s),las(visit=3s),efd,scfq"


def table_lines(text):
    """Rows of tables, which have columns; a sentence is one line in a pipe, as long as it is."""
    return [line for line in text.splitlines() if "  " in line.strip() or not re.search(r"[a-z]{3}", line)]


def test_many_disciplines_have_a_line_each_by_family_and_the_answer_stands_first(out):
    capture = ROOT / "tests" / "data" / "tiny.pcapng.gz"
    arguments = ["whatif", capture, "--rate", "1mbit", "--buffer", "50", "-d", SEVEN, "--out", out]
    ended = mayfly_here(*arguments)
    assert ended.status == 0, ended.err
    assert max(map(len, table_lines(ended.out))) <= 80
    table = ended.out.partition("The link and its queue")[2].splitlines()[4:14]
    labels = [line.split()[0] for line in table]
    assert labels[:3] == ["plain", "fifo", "size-based"] and "las(visit=1s)" in labels and "fair" in labels
    summary = json.loads((out / "summary.json").read_text())
    assert ended.out.startswith(summary["recommendation"]["sentence"]) and len(summary["answer"]) == 6
    assert [row["label"] for row in summary["disciplines"]] == SEVEN.split(",")
    assert summary["disciplines"][2]["options"] == {"visit": "1"}


def test_families_and_exceptions_choose_what_runs(out):
    ended = mayfly_here("compare", "wired", "-d", "all,-size-based,-scfq", "--out", out, "--json", *SHORT)
    ids = [row["id"] for row in ended.document["disciplines"]]
    every = mayfly_here("disciplines", "--json").document["disciplines"]
    assert ids[0] == "fifo" and sorted(ids) == sorted(
        row["id"] for row in every if row["family"] != "size-based" and row["id"] != "scfq"
    )


def test_simulate_writes_records_and_names_them(out):
    ended = mayfly_here("simulate", "wired", "--discipline", "fifo", "--out", out, *SHORT)
    assert ended.status == 0 and ended.err == ""
    assert f"records: {out / 'flows.parquet'}" in ended.out
    assert pl.read_parquet(out / "flows.parquet").height > 50


def test_the_drop_trace_is_written_when_asked_for(out):
    arguments = ["simulate", "wired", "--discipline", "fifo", "--out", out, "--set", "network.buffer=5"]
    ended = mayfly_here(*arguments, "--trace-drops", "--json", *SHORT)
    assert pl.read_parquet(out / "drops.parquet").height == ended.document["drops"] > 0


@pytest.mark.parametrize("command", [["compare", "wired", "-d", "las"], ["simulate", "wired", "--discipline", "las"]])
def test_packets_of_chosen_flows_are_written_when_asked_for(out, command):
    call = 'workload.cbr=[{rate="64kbit",packet=200,group="call"}]'
    ended = mayfly_here(
        *command, "--out", out, "--set", call, "--trace-flow", "call", "--trace-flow", "3", "--json", *SHORT
    )
    assert ended.document["scenario"]["trace"] == ["call", "3"]
    packets = pl.read_parquet(out / "packets.parquet")
    sent = pl.read_parquet(out / "flows.parquet").filter(pl.col("flow_id").is_in(packets["flow_id"].unique().to_list()))
    assert sent["packets_sent"].sum() == packets.height > 200
    assert {"packets", "timeouts"} <= set(ended.document["files"])


def test_simulate_repeats_when_set_says_so(out):
    ended = mayfly_here(
        "simulate", "wired", "--discipline", "fifo", "--out", out, "--set", "replications=2", "--json", *SHORT
    )
    assert ended.document["replications"] == 2 and ended.document["short"]["ci95"] is not None


def test_the_same_command_twice_writes_the_same_records(tmp_path):
    for name in ("a", "b"):
        arguments = ["simulate", "wired", "--discipline", "las", "--out", tmp_path / name, "--seed", "5", *SHORT]
        assert mayfly(*arguments).status == 0
    for table in ("flows.parquet", "samples.parquet"):
        assert pl.read_parquet(tmp_path / "a" / table).equals(pl.read_parquet(tmp_path / "b" / table))


def test_without_arguments_it_shows_what_there_is():
    ended = mayfly_here()
    assert ended.status == 0 and ended.err == ""
    listed = mayfly_here("--help").out.partition("Commands:\n")[2].partition("\n\n")[0]
    assert listed and listed in ended.out
    for command in COMMANDS:
        assert re.search(rf"^  {command} +\S", ended.out, re.MULTILINE)
    assert "...\n" not in listed, "no sentence is cut off"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_shows_an_example(command):
    ended = mayfly_here(command, "--help")
    assert ended.status == 0 and ended.err == ""
    assert f"Example:  mayfly {command}" in ended.out
    assert ended.out == mayfly_here(command, "-h").out


@pytest.mark.parametrize(
    ("command", "units"),
    [
        ("compare", ["200s", "5min", "seconds", "200ms", "from 0 to 2^63 - 1"]),
        ("whatif", ["10mbit", "bit/s", "packets", "450kB", "0.8", "0.01 to 10", "200s"]),
        ("simulate", ["200s", "seconds", "200ms", "threshold=40000"]),
    ],
)
def test_help_of_every_command_shows_units(command, units):
    text = " ".join(mayfly_here(command, "--help").out.split())
    for unit in units:
        assert unit in text, unit


def test_the_examples_of_help_are_commands_that_parse():
    for command in COMMANDS:
        example = re.search(r"Example: +mayfly (.*)", " ".join(mayfly_here(command, "--help").out.split()))[1]
        words = example.split()
        assert words[0] == command
        shown = mayfly_here(command, "--help").out
        assert all(word in shown for word in words if word.startswith("--"))


def test_version_is_that_of_the_package():
    ended = mayfly_here("--version")
    assert (ended.status, ended.err) == (0, "")
    assert re.fullmatch(rf"mayfly {re.escape(version('mayfly'))}( \([0-9a-f]{{7,40}}\+?\))?\n", ended.out)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compar"], "No such command 'compar'"),
        (["compare", "--durations", "3s"], "No such option: --durations"),
        (["compare", "wired", "extra"], "extra"),
        (["simulate"], "Missing argument"),
        (["simulate", "wired"], "Missing option '--discipline'"),
        (["compare", "--out"], "--out"),
        (["--nothing"], "--nothing"),
    ],
)
@pytest.mark.parametrize("flag", [[], ["--json"]])
def test_mistakes_of_usage_are_one_line(arguments, said, flag):
    command, *options = arguments
    line = refused_here(command, *flag, *options)
    assert said in line and "--help` shows what there is" in line


def test_progress_is_for_terminals_only(out):
    """Standard error a terminal: a bar; standard output stays clean."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "compare", "wired", "-d", "fifo", "--duration", "300s", "--out", str(out), "--json"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=PLAIN | {"TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(theirs)
    seen = b""
    while process.poll() is None or select.select([ours], [], [], 0)[0]:
        if select.select([ours], [], [], 0.1)[0]:
            try:
                seen += os.read(ours, 65536)
            except OSError:
                break
    os.close(ours)
    printed = process.stdout.read()
    process.stdout.close()
    assert process.wait() == 0
    assert b"compare wired" in seen and b"%" in seen
    assert printed.startswith(b'{"schema": 1') and printed.count(b"\n") == 1


@pytest.mark.parametrize(
    "env",
    [
        {"COLUMNS": "40"},
        {"COLUMNS": "80"},
        {"COLUMNS": "5"},
        {"NO_COLOR": "1"},
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1", "COLUMNS": "40"},
        {"TERM": "dumb"},
    ],
    ids=str,
)
def test_any_terminal_and_locale_is_served(env, out):
    done = subprocess.run(
        [*COMMAND, "compare", "wired", "-d", "fifo,efd", "--out", str(out), *SHORT],
        capture_output=True,
        env=PLAIN | env,
    )
    assert done.returncode == 0 and done.stderr == b""
    assert b"\x1b" not in done.stdout and str(out).encode() in done.stdout
    text = done.stdout.decode("utf-8", errors="replace")
    width = int(env.get("COLUMNS", 80))
    table = text.partition("report: ")[0]
    if width >= 40:
        assert max(map(len, table_lines(table))) <= width
        assert "ms" in table and "%" in table and "fifo" in table and "efd" in table
    for help_of in (["--help"], ["compare", "--help"], ["disciplines"]):
        shown = subprocess.run([*COMMAND, *help_of], capture_output=True, env=PLAIN | env)
        assert shown.returncode == 0 and shown.stderr == b"" and len(shown.stdout) > 10 * min(width, 20)


def test_a_reader_that_leaves_early_is_no_error():
    process = subprocess.Popen(
        [*COMMAND, "disciplines", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=PLAIN
    )
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    process.wait()
    assert said == b""


def test_a_full_standard_output_is_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, "disciplines"], stdout=full, stderr=subprocess.PIPE, text=True, env=PLAIN)
    assert done.returncode == 2
    assert done.stderr == "mayfly: standard output: No space left on device\n"
