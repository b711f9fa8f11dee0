"""`--models` of compare, whatif and simulate."""

import json
from pathlib import Path

import pytest
from invocation import mayfly_here, refused_here

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "tests" / "data" / "tiny.pcapng.gz"
COMMANDS = [
    ["compare", "wired", "-d", "fifo,las,red", "--duration", "5s"],
    ["whatif", CAPTURE, "--rate", "1mbit", "--buffer", "50", "--replay", "transfers", "-d", "fifo,las,red"],
    ["simulate", "wired", "--discipline", "las", "--duration", "5s"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_the_document_and_the_summary_have_the_models(command, tmp_path):
    ended = mayfly_here(*command, "--models-path", "--json", "--out", tmp_path / "out")
    assert (ended.status, ended.err) == (0, "")
    models, queue = ended.document["models"], ended.document["model_queue"]
    assert models["las"]["policy"] == "las" and models["las"]["by_size"]
    assert queue["with_path"] is True and queue["rho"] > 0
    if command[0] != "simulate":
        assert models["fifo"]["policy"] == "ps" and queue["no_model"] == ["red"]
        assert "Models beside the simulation" in (tmp_path / "out" / "report.html").read_text()
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["models"] == models


def test_the_table_has_the_numbers_of_the_document(tmp_path):
    command = [*COMMANDS[0], "--models", "--out", tmp_path / "out"]
    printed, document = mayfly_here(*command).out, mayfly_here(*command, "--json").document
    [line] = [line for line in printed.partition("Models beside")[2].splitlines() if line.startswith("las ")]
    assert line.split()[1] == "las"
    assert f"{document['models']['las']['short']['error'] * 100:+.1f} %" in line
    assert "note: no model: red" in printed and "without round trips" in printed


def test_without_the_option_nothing_is_said_of_models(tmp_path):
    command = [*COMMANDS[0], "--out", tmp_path / "out"]
    document = mayfly_here(*command, "--json").document
    assert not {"models", "model_queue"} & document.keys()
    assert "odel" not in mayfly_here(*command).out


def test_several_links_are_refused_before_the_run(tmp_path):
    for scenario, said in (("wlan", "not a wireless cell"), ("parking-lot", "must be dumbbell")):
        assert said in refused_here("compare", scenario, "--models", "--duration", "5s", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
