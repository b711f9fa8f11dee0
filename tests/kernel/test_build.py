"""The build of the test kernel, where it cannot be."""

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "kernel" / "uml" / "build.sh"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="says that it is not x86_64 instead")
def test_without_a_tool_the_build_says_which_one_and_how_to_get_it(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("bash", "dirname", "uname", "gcc", "make"):
        found = shutil.which(name)
        if found:
            (tools / name).symlink_to(found)
    done = subprocess.run(
        [tools / "bash", BUILD, tmp_path / "cache"],
        env={**os.environ, "PATH": str(tools)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 77
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("no test kernel: ") and "is missing; on Debian: apt-get install" in last
    assert not (tmp_path / "cache").exists()
