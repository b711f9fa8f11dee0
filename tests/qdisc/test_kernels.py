"""Kernels and their queue disciplines: the table of Debian's configurations, and what a load looks at before."""

import gzip
from pathlib import Path

import pytest
from invocation import refused_here

from mayfly import disciplines
from mayfly.discipline_registry import kernels
from mayfly.errors import MayflyError
from mayfly.qdisc import system

RECORDED = Path(__file__).parents[1] / "data" / "kernels"
OF_LINUX = sorted({row["runs_on"]["qdisc"] for row in disciplines() if "kernel" in row["runs_on"]["places"]})


@pytest.mark.parametrize("kernel", kernels.KERNELS, ids=lambda kernel: kernel.version)
def test_the_table_is_what_the_configuration_of_the_package_says(kernel):
    text = (RECORDED / f"{kernel.version}.config").read_text()
    assert kernel.source in text.splitlines()[0]
    found = kernels.configured(text)
    assert len(found) > 25
    words = {"y": "built in", "m": "module", "": "not set"}
    expected = {qdisc: words[found[qdisc]] if qdisc in found else "not there" for qdisc in OF_LINUX}
    expected["pfifo"] = "built in"  # net/sched/Makefile: without an option
    assert {qdisc: kernel.says(qdisc) for qdisc in OF_LINUX} == expected
    assert kernels.why_not("dualpi2", found, kernel.version)
    assert bool(kernels.why_not("cake_mq", found, kernel.version)) == kernel.version.startswith("6.")


@pytest.fixture
def configuration(machine, monkeypatch, tmp_path):
    """Writes the configuration of the running kernel down."""

    def write(text: str, name: str = "config") -> Path:
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        monkeypatch.setattr("mayfly.qdisc.system.CONFIGURATIONS", (str(tmp_path / "none"), str(path)))
        (tmp_path / "modules").mkdir(exist_ok=True)
        monkeypatch.setattr("mayfly.qdisc.system.MODULES", str(tmp_path / "modules"))
        monkeypatch.setattr("mayfly.qdisc.system.running_kernel", lambda: "7.3.4")
        monkeypatch.setattr("mayfly.qdisc.system.loaded", lambda module: False)
        return path

    return write


@pytest.mark.parametrize("name", ["config", "config.gz"])
@pytest.mark.parametrize(
    ("arguments", "text", "said"),
    [
        (("-d", "codel"), "# CONFIG_NET_SCH_CODEL is not set\n", "without codel: CONFIG_NET_SCH_CODEL is not set in"),
        (("-d", "codel"), "CONFIG_NET_SCH_FQ=m\n", "without codel: it knows no CONFIG_NET_SCH_CODEL in"),
        (("-d", "codel", "--rate", "9mbit"), "CONFIG_NET_SCH_CODEL=y\n", "without htb: it knows no CONFIG_NET_SCH_HTB"),
        (
            ("-d", "codel", "--rate", "9mbit", "--overhead", "18"),
            "CONFIG_NET_SCH_CODEL=y\n# CONFIG_NET_SCH_HTB is not set\n",
            "without htb: CONFIG_NET_SCH_HTB is not set",
        ),
        (("-d", "dualpi2"), "# CONFIG_NET_SCH_DUALPI2 is not set\n", "without dualpi2: CONFIG_NET_SCH_DUALPI2 is not"),
        (("-d", "dualpi2"), "CONFIG_NET_SCH_DUALPI2=y\n", "has no words for its options; man tc-dualpi2 has them"),
    ],
)
def test_a_load_looks_at_the_configuration_before_it_does_anything(machine, configuration, name, arguments, text, said):
    path = configuration(text, name)
    out = refused_here("qdisc", "load", "eth0", *arguments)
    assert said in out and (str(path) in out or "man tc" in out)
    assert machine.calls() == []


def test_a_module_that_is_configured_and_not_installed_is_named(machine, configuration):
    configuration("CONFIG_NET_SCH_CODEL=m\n")
    machine.answer("modprobe --dry-run sch_codel", status=1, err="modprobe: FATAL: Module sch_codel not found.\n")
    assert "module sch_codel is not installed for kernel 7.3.4" in refused_here("qdisc", "load", "eth0", "-d", "codel")
    assert machine.calls() == []


@pytest.mark.parametrize("lacks", ["modules", "modprobe"])
def test_a_container_without_the_modules_of_its_host_is_tried(machine, configuration, monkeypatch, tmp_path, lacks):
    """The host's kernel loads a module when tc asks for it."""
    from invocation import mayfly_here

    configuration("CONFIG_NET_SCH_CODEL=m\n")
    if lacks == "modules":
        (tmp_path / "modules").rmdir()
    else:
        missing = MayflyError("modprobe is missing")
        monkeypatch.setattr("mayfly.qdisc.system.program", lambda name: name if name == "tc" else _raised(missing))
    assert mayfly_here("qdisc", "load", "eth0", "-d", "codel").status == 0
    assert any("codel" in call for call in machine.calls())


def _raised(error):
    raise error


def test_a_damaged_configuration_is_none(machine, configuration):
    path = configuration("CONFIG_NET_SCH_CODEL=y\n", "config.gz")
    path.write_bytes(path.read_bytes()[:20])
    assert system.why_no_qdisc("codel") == ""


def test_a_machine_that_shows_no_configuration_is_tried(machine):
    from invocation import mayfly_here

    assert mayfly_here("qdisc", "load", "eth0", "-d", "codel").status == 0
    assert any("codel" in call for call in machine.calls())
