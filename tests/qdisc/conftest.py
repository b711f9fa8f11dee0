"""A machine of programs that only note how they are called."""

import errno
import os

import pytest
from fake import Machine


@pytest.fixture
def machine(tmp_path, monkeypatch) -> Machine:
    """Programs first on PATH, root, a folder for plug-ins of tc with that of efd."""
    folder = tmp_path / "bin"
    folder.mkdir()
    plugins = tmp_path / "tc"
    plugins.mkdir()
    (plugins / "q_efd.so").touch()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("TC_LIB_DIR", str(plugins))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    # Files of the tests are those of who runs them, by sudo as it were.
    monkeypatch.setenv("SUDO_UID", str(os.getuid()))
    monkeypatch.setenv("SUDO_GID", str(os.getgid()))
    monkeypatch.setattr("mayfly.qdisc.journal.FOLDER", tmp_path / "run")
    # What the kernel of the tests is built with is none of theirs.
    monkeypatch.setattr("mayfly.qdisc.system.CONFIGURATIONS", ())
    machine = Machine(folder)
    monkeypatch.setattr("socket.if_nametoindex", lambda name: machine.interfaces.get(name) or _none(name))
    machine.answer("tc -s -j qdisc show", [])
    return machine


def _none(name: str) -> int:
    raise OSError(errno.ENODEV, "No such device", name)
