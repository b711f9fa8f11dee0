"""`.ci/progress`: what a long step of make says while it runs."""

import subprocess
import sys
from pathlib import Path

PROGRESS = Path(__file__).parents[2] / ".ci" / "progress"


def ran(script, *, period_s=0.0):
    code = f"import runpy, sys; m = runpy.run_path({str(PROGRESS)!r}); m['main'].__globals__['PERIOD_S'] = {period_s}; "
    code += f"sys.exit(m['main']('1/1 module', sys.executable, '-c', {script!r}))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


SAID = "print('   Compiling libc v0.2.1\\n   Compiling polars v1.0.0 (x)\\nnoise\\nCollecting rich>=13')"


def test_each_step_is_a_line_and_noise_is_none():
    done = ran(SAID)
    assert done.returncode == 0 and done.stderr == ""
    title, *lines, last = done.stdout.splitlines()
    assert title == "1/1 module" and last.endswith("s  done")
    assert [line.split("s  ", 1)[1] for line in lines] == [
        "compiles libc (1 crates)",
        "compiles polars (2 crates)",
        "looks for rich (2 crates)",
    ]


def test_steps_that_follow_at_once_are_told_once_a_period():
    assert len(ran(SAID, period_s=60.0).stdout.splitlines()) == 2


def test_a_step_that_takes_long_is_told_again():
    lines = ran("import time; print('Compiling polars v1.0.0', flush=True); time.sleep(2.5)", period_s=0.5).stdout
    assert lines.count("compiles polars") >= 2


def test_a_failure_has_all_that_was_said_and_its_status():
    done = ran(SAID + "; import sys; sys.exit('no linker')")
    assert done.returncode == 1
    assert "failed with status 1" in done.stdout
    assert "noise" in done.stderr and "no linker" in done.stderr
