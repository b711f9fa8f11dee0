"""The Debian package installed in a Debian of each suite: DKMS builds the modules, its kernel loads them."""

import os
import re
import subprocess
from pathlib import Path

import machine
import pytest
import qdiscs

pytestmark = pytest.mark.kernel

NAMES = [row.id for row in qdiscs.ROWS]
MODULES = ["mayfly_common", *(row.module for row in qdiscs.ROWS)]
VERSION = "0.0.1"
SETTINGS = {
    "rate_bps": 1_000_000,
    "delay_s": 0.01,
    "sysctl": {"net.ipv4.tcp_no_metrics_save": "1"},
    "congestion": "cubic",
    "bulk_congestion": "cubic",
    "size_bytes": 10_000,
    "starts_s": [3.0],
    "duration_s": 6.0,
    "look_s": 1.0,
    "names": NAMES,
    "through": "lfq",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory) -> Path:
    """The package as `make deb` packs it here."""
    out = tmp_path_factory.mktemp("deb")
    made = subprocess.run(
        ["make", "-s", "-C", machine.KERNEL, "deb", f"OUT={out}"],
        env=os.environ | {"VERSION": VERSION},
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    return next(out.glob("*.deb"))


@pytest.mark.parametrize("suite", ["bookworm", "bookworm-backports", "trixie-backports", "unstable"])
def test_it_installs_loads_and_goes_without_a_trace(suite, package, tmp_path):
    home = machine.installed(suite)
    machine.copied(home)
    root = home / "root"
    (version,) = (folder.name for folder in (root / "lib/modules").iterdir())
    machine.inside(home, "dpkg --purge mayfly-qdisc")  # of a run that was stopped
    before = {file for file in root.glob("usr/lib/**/tc/*")} | {file for file in (root / "lib/modules").rglob("*.ko*")}
    (root / "mayfly.deb").write_bytes(package.read_bytes())

    told = machine.inside(home, "dpkg -i /mayfly.deb")
    print(told)
    assert re.search(rf"mayfly/{VERSION}, {re.escape(version)}, x86_64: installed", machine.inside(home, "dkms status"))
    guest = machine.initramfs(home, [*machine.MODULES, *MODULES], files=["/usr/lib/x86_64-linux-gnu/tc"])
    guest = guest.rename(home / "guest")

    gone = machine.inside(home, "dpkg --purge mayfly-qdisc")
    print(gone)
    after = {file for file in root.glob("usr/lib/**/tc/*")} | {file for file in (root / "lib/modules").rglob("*.ko*")}
    assert after == before
    assert not list(root.glob("usr/src/mayfly-*")) and not list(root.glob("var/lib/dkms/mayfly*"))
    assert "mayfly" not in machine.inside(home, "dkms status")

    result = machine.boot(home, guest, "dkms.py", SETTINGS, tmp_path)
    assert result["kernel"] == version
    for name, answers in result["modules"].items():
        # tc asks the kernel for the discipline, and the kernel for its module.
        assert not answers["before"] and answers["added"] == answers["changed"] == answers["deleted"] == "", answers
        assert "/updates/" in answers["file"][-1], answers
        assert answers["removed"] == ""
        (row,) = (row for row in answers["rows"] if row["kind"] == name)
        assert row["options"]["limit"] == 10
    assert None not in result["transfers"]["times_s"] and result["transfers"]["bulk_bytes"] > 0
    assert result["log"] == []
