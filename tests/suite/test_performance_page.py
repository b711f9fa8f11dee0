"""What measures the speed of programs, and the page where it is put."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "performance.md"


@pytest.fixture(scope="module")
def processes():
    spec = importlib.util.spec_from_file_location("benchmark_processes", ROOT / "benchmarks" / "processes.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_memory_of_a_program_is_not_that_of_its_parent(processes, tmp_path):
    held = bytearray(200_000_000)
    small = processes.spent([sys.executable, "-I", "-S", "-c", "print(1)"], tmp_path)
    large = processes.spent([sys.executable, "-I", "-S", "-c", "len(bytearray(b'1') * 100_000_000)"], tmp_path)
    assert len(held) and small.memory_bytes < 30_000_000
    assert 100_000_000 < large.memory_bytes < 140_000_000
    assert small.printed == "1\n"


COMPILER = """#!/bin/sh
echo "$@" >>"{folder}/calls"
case " $* " in *" {standard} "*) exit 0 ;; esac
echo "ns3/object.h:1: error: 'remove_cvref_t' is not a member of 'std'" >&2
exit 1
"""


@pytest.mark.parametrize(
    ("release", "needs", "tried"),
    [
        ("37", "-std=c++17", ["-std=c++17"]),
        ("43", "-std=c++20", ["-std=c++20"]),
        ("48", "-std=c++20", ["-std=c++20"]),
        ("40", "-std=c++20", ["-std=c++17", "-std=c++20"]),
        ("48", "-std=c++98", ["-std=c++20", "-std=c++17"]),
    ],
)
def test_a_peer_of_ns3_compiles_with_what_its_release_needs(
    processes, tmp_path, monkeypatch, capsys, release, needs, tried
):
    headers = tmp_path / "ns3"
    headers.mkdir()
    (headers / "core-module.h").touch()
    defines = f"#define NS3_VERSION_MAJOR 3\n#define NS3_VERSION_MINOR {release}\n#define NS3_VERSION_PATCH 0\n"
    (headers / "version-defines.h").write_text(defines)
    (tmp_path / "g++").write_text(COMPILER.format(folder=tmp_path, standard=needs))
    (tmp_path / "g++").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(processes, "NS3_HEADERS", headers)
    assert processes.ns3_version() == f"3.{release}"
    found = processes.ns3_program("ns3_queues", ["core"], tmp_path)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [next(word for word in call.split() if "-std" in word) for call in calls] == tried
    said = capsys.readouterr().err
    if needs in tried:
        assert found == tmp_path / "ns3_queues" and said == ""
    else:
        assert found is None and f"ns3_queues.cc does not compile with ns-3 3.{release} (-std=c++20: " in said


def test_processor_time_is_of_the_program_and_its_children(processes, tmp_path):
    busy = "import time\nwhile time.process_time() < 0.3: pass"
    through = f"import subprocess, sys; subprocess.run([sys.executable, '-I', '-S', '-c', {busy!r}])"
    assert processes.spent([sys.executable, "-I", "-S", "-c", through], tmp_path).cpu_s >= 0.3


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ([sys.executable, "-c", "raise SystemExit('no such column')"], "status 1: no such column"),
        ([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], "status -9: nothing said"),
        (["mayfly-no-such-program"], "is not there"),
    ],
)
def test_what_fails_says_so(processes, tmp_path, command, why):
    with pytest.raises(RuntimeError, match=re.escape(why)):
        processes.spent(command, tmp_path)


def test_the_page_has_a_place_for_each_part():
    command = [sys.executable, ROOT / "benchmarks" / "performance.py", "--only", "none"]
    refused = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"COLUMNS": "1000"})
    assert refused.returncode == 2
    parts = ["machine", *re.search(r"must be one of ([a-z0-9, -]*[a-z0-9])", refused.stderr)[1].split(", ")]
    assert {"ns2", "captures", "rates", "hundred-million"} <= {*parts}
    found = re.findall(
        r"^<!-- benchmarks/performance\.py: ([a-z0-9-]+): (begin|end) -->$", PAGE.read_text(), re.MULTILINE
    )
    assert sorted(found) == sorted((name, word) for name in parts for word in ("begin", "end"))
    assert found[::2] == [(name, "begin") for name, _ in found[1::2]]
