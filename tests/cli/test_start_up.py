"""What a command loads: nothing it does not need."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from invocation import PLAIN, mayfly

OFFICE = Path(__file__).parents[2] / "captures" / "office.pcap.gz"
HEAVY = ["polars", "numpy", "scipy", "pydantic", "plotly", "rich", "typer", "mayfly._native"]

LOADED = """
import atexit, json, sys
sys.argv[:] = ["mayfly", *sys.argv[1:]]
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
from mayfly.cli import main
main()
"""


def loaded_by(*arguments):
    """Names of the modules a command has loaded at its end."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *map(str, arguments)], capture_output=True, text=True, env=PLAIN
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("module", ["mayfly", "mayfly.cli", "mayfly.cli.process", "mayfly.metrics"])
def test_importing_loads_nothing_heavy(module):
    code = f"import sys, {module}; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=PLAIN)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("arguments", [["--help"], ["compare", "--help"], ["--version"], []])
def test_help_loads_no_tables_no_numbers_no_plots(arguments):
    found = loaded_by(*arguments)
    assert "mayfly.cli.app" in found
    # Typer itself takes pydantic for all but its first --help.
    assert not found & {"polars", "numpy", "scipy", "plotly", "rich", "mayfly._native", "mayfly.simulate"}
    assert arguments != ["--help"] or "pydantic" not in found


def test_a_document_of_one_run_of_a_list_loads_what_a_table_needs_and_no_more(tmp_path):
    flows = tmp_path / "flows.csv"
    flows.write_text("start_s,size_packets,group\n0,10,web\n")
    found = loaded_by(
        "simulate", "wired", "--discipline", "fifo", "--flows", flows, "--out", tmp_path / "out", "--json"
    )
    assert "polars" in found
    assert not found & {"scipy", "plotly", "rich", "numpy.random", "mayfly.show.terminal"}


def test_a_workload_that_is_drawn_loads_no_scipy(tmp_path):
    given = ["simulate", "wired", "--discipline", "fifo", "--duration", "1s", "--out", tmp_path / "out"]
    found = loaded_by(*given, "--json", "--set", "workload.cov=5")
    assert "mayfly.laws.solving" in found and not found & {"scipy", "polars"}
    # Another field leaves the law as it was solved when the package was made.
    found = loaded_by(*given, "--json", "--set", "network.rate=9mbit")
    assert not found & {"polars", "scipy", "mayfly.simulate.run"}
    # As it was checked when the package was made, its law is solved.
    for words in (["--json"], []):
        found = loaded_by(*given, *words)
        assert "numpy.random" in found
        assert not found & {"polars", "pydantic", "scipy", "mayfly.scenario.scenario"}


def test_connections_of_a_capture_load_no_numbers(tmp_path):
    found = loaded_by("profile", OFFICE, "--connections", "--out", tmp_path / "out", "--json")
    assert not found & {"polars", "numpy", "scipy", "plotly", "rich"}


def test_a_profile_loads_no_scipy(tmp_path):
    found = loaded_by("profile", OFFICE, "--out", tmp_path / "out", "--json")
    assert "numpy" in found and not {name.partition(".")[0] for name in found} & {"polars", "scipy", "rich", "plotly"}


def test_a_refused_folder_loads_no_tables(tmp_path):
    assert "polars" not in loaded_by("compare", "--out", __file__)


def test_settings_of_the_user_stand():
    code = "import os; from mayfly.cli import process as p; p._start_light(); print(os.environ['OPENBLAS_NUM_THREADS'])"
    for given, kept in ((None, "1"), ("4", "4")):
        env = {name: value for name, value in PLAIN.items() if name != "OPENBLAS_NUM_THREADS"}
        env |= {} if given is None else {"OPENBLAS_NUM_THREADS": given}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
        assert done.stdout == f"{kept}\n"


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_closed_streams_are_no_error(closed, tmp_path):
    number = {"stdout": 1, "stderr": 2}[closed]
    ended = mayfly(
        "simulate", "wired", "--discipline", "fifo", "--duration", "2s", "--out", tmp_path / "out", "--json",
        preexec=lambda: os.close(number),
    )  # fmt: skip
    assert ended.status == 0
    assert (tmp_path / "out" / "summary.json").is_file()
