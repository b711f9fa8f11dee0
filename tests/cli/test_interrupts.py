"""Interrupts: soon, in order, and without a trace."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from invocation import COMMAND, PLAIN, heed_interrupts, mayfly

# Minutes of work: no machine ends it before the signal comes.
LONG = ["--set", "workload.load=80mbit", "--set", "network.rate=100mbit", "--duration", "20000s"]
PROMPT_S = 2.0
FOLDER = Path(__file__).parents[2] / "captures" / "provider"
PROVIDER = (FOLDER / "network.json", "--devices", FOLDER / "ShapedDevices.csv")


def begun(*arguments):
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=PLAIN,
        preexec_fn=heed_interrupts,
    )


def until_running(process):
    """Waits for the simulator's threads: processor time beyond any start."""
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        with open(f"/proc/{process.pid}/stat") as stat:
            used = sum(map(int, stat.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
        if used > 3:
            return
        time.sleep(0.05)
    pytest.fail("the command ended or never began")


def stopped(process, number):
    """Status, standard output and standard error after the signal, and how long that took."""
    began = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err, time.monotonic() - began


@pytest.mark.parametrize(
    "command",
    [
        ["compare", "wired", "-d", "fifo,las,efd"],
        ["compare", "wired", "-d", "fifo", "--replications", "2"],
        ["simulate", "wired", "--discipline", "efd", "--no-stream"],
    ],
    ids=["compare", "replications", "simulate"],
)
@pytest.mark.slow
def test_an_interrupt_ends_a_run_soon_and_leaves_nothing(command, tmp_path):
    ends_soon(begun(*command, *LONG, "--out", tmp_path / "deep" / "out", "--json"), tmp_path)


@pytest.mark.slow
def test_an_interrupt_ends_a_stream_soon_and_leaves_nothing(tmp_path):
    given = ("simulate", "wired", "--discipline", "efd", *LONG, "--out", tmp_path / "deep" / "out", "--json")
    ends_soon(begun(*given), tmp_path, said="transfers are expected: they run as a stream")


@pytest.mark.slow
def test_an_interrupt_ends_a_tree_soon_and_leaves_nothing(tmp_path):
    given = ("tree", *PROVIDER, "-d", "fifo,cake", "--duration", "4000s", "--out", tmp_path / "deep" / "out", "--json")
    ends_soon(begun(*given), tmp_path)


def ends_soon(process, tmp_path, said=None):
    """`said` stands in a line before."""
    until_running(process)
    status, out, err, took_s = stopped(process, signal.SIGINT)
    assert status == 130
    assert json.loads(out)["error"].startswith("interrupted")
    *before, last = err.splitlines()
    assert last.startswith("mayfly: interrupted")
    assert [said in line for line in before] == [True] * (said is not None)
    assert list(tmp_path.iterdir()) == []
    assert took_s < PROMPT_S


LOSES = """
import os, signal, sys, time
import typer
from mayfly.cli import app, main

class Deaf:
    def __del__(self):
        time.sleep(60)  # where the exception comes up has no caller: Python drops it

def command(**_):
    print("ready", flush=True)
    Deaf()
    try:
        time.sleep(60)
    finally:
        time.sleep(0.8)  # cleaning up takes longer than the time between two tries
        print("cleaned up", flush=True)

app.app = command
main()
"""


def test_an_interrupt_lost_in_a_destructor_is_raised_again_and_cleaning_up_is_left_alone():
    process = subprocess.Popen(
        [sys.executable, "-c", LOSES],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=PLAIN,
        preexec_fn=heed_interrupts,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    status, out, err, took_s = stopped(process, signal.SIGINT)
    assert (status, out) == (130, "cleaned up\n")
    assert err.startswith("mayfly: interrupted") and len(err.splitlines()) == 1
    assert took_s < PROMPT_S + 0.8


@pytest.mark.slow
def test_a_hasty_user_interrupts_twice(tmp_path):
    process = begun("compare", "wired", *LONG, "--out", tmp_path / "out", "--json")
    until_running(process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.02)
    status, out, err, _ = stopped(process, signal.SIGINT)
    assert status == 130 and "error" in json.loads(out) and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_termination_is_as_orderly(tmp_path):
    process = begun("compare", "wired", *LONG, "--out", tmp_path / "out", "--json")
    until_running(process)
    status, out, err, _ = stopped(process, signal.SIGTERM)
    assert status == 128 + signal.SIGTERM and "error" in json.loads(out) and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def until_taken_over(process):
    """Not before the command has taken over from the interpreter's own start: it catches what Python leaves alone."""
    caught = 1 << (signal.SIGTERM - 1)
    while process.poll() is None:
        fields = dict(line.split(":", 1) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines())
        if int(fields["SigCgt"], 16) & caught:
            return
        time.sleep(0.002)


@pytest.mark.slow
def test_an_interrupt_at_any_moment_leaves_all_files_or_none(tmp_path):
    """Through start, run and writing: the earlier results stay whole, or the later ones are there whole."""
    arguments = ["compare", "wired", "-d", "fifo", "--duration", "20s", "--out", tmp_path, "--json"]
    assert mayfly(*arguments, "--seed", "1").status == 0
    began = time.monotonic()
    assert mayfly(*arguments, "--seed", "2").status == 0
    whole_s = time.monotonic() - began
    names = {path.name for path in tmp_path.iterdir()}
    statuses = set()
    for step in range(1, 25):
        process = begun(*arguments, "--seed", str(100 + step))
        began = time.monotonic()
        until_taken_over(process)
        time.sleep(max(0.0, whole_s * step / 24 - (time.monotonic() - began)))
        status, out, err, _ = stopped(process, signal.SIGINT)
        statuses.add(status)
        assert status in (0, 130), (step, status, err)
        assert "Traceback" not in err, err
        document = json.loads(out)
        assert ("error" in document) == (status == 130)
        assert {path.name for path in tmp_path.iterdir()} == names
        summary = json.loads((tmp_path / "summary.json").read_text())
        if status == 0:
            assert summary["seed"] == 100 + step
    assert 130 in statuses


def test_background_jobs_of_a_shell_keep_ignoring_interrupts(tmp_path):
    def in_background():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    process = subprocess.Popen(
        [*COMMAND, "simulate", "wired", "--discipline", "fifo", "--duration", "100s", "--out", str(tmp_path), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=PLAIN,
        preexec_fn=in_background,
    )
    time.sleep(0.3)
    status, out, err, _ = stopped(process, signal.SIGINT)
    assert (status, err) == (0, "") and json.loads(out)["command"] == "simulate"


def test_an_interrupt_that_a_callback_swallows_is_not_shown():
    """Before: "Exception ignored in", with a traceback, when Ctrl-C met the callback of a weak reference."""
    code = (
        "import os, signal, sys, time, weakref\n"
        "from mayfly.cli.process import _stop_once\n"
        "class Thing: pass\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "_stop_once([])\n"
        "thing = Thing()\n"
        "held = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGINT) or time.sleep(5))\n"
        "try:\n"
        "    del thing\n"
        "    time.sleep(5)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")
