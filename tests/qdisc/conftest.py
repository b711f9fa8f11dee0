"""A machine of programs that only note how they are called."""

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
    machine = Machine(folder)
    machine.answer("tc -s -j qdisc show", [])
    return machine
