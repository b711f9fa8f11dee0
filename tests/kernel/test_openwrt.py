"""The OpenWrt feed: its Makefiles as OpenWrt reads them, and lfq.qos run by sqm-scripts on a router in the guest.

Neither OpenWrt nor sqm-scripts is here: MAYFLY_OPENWRT and MAYFLY_SQM_SCRIPTS name git repositories of them.
"""

import os
import re
import subprocess
from pathlib import Path

import guest
import pytest

pytestmark = pytest.mark.kernel

FEED = guest.KERNEL / "openwrt"
UP_KBIT, DOWN_KBIT = 2000, 4000
COMMON = {"UPLINK": str(UP_KBIT), "DOWNLINK": str(DOWN_KBIT)}
CONFIGURATIONS = {
    "cake": {"SCRIPT": "piece_of_cake.qos", "QDISC": "cake"},
    "lfq": {"SCRIPT": "lfq.qos"},
    "everything": {
        "SCRIPT": "lfq.qos",
        "LINKLAYER": "atm",
        "OVERHEAD": "40",
        "STAB_MPU": "64",
        "ILIMIT": "500",
        "ELIMIT": "300",
        "ETARGET": "10ms",
        "ITARGET": "auto",
        "IECN": "NOECN",
        "IQDISC_OPTS": "user dst",
        "EQDISC_OPTS": "user src",
    },
}


def archive(variable: str, folder: Path, *paths: str) -> Path:
    """Files of the newest commit of the repository that the variable names, in the folder."""
    repository = os.environ.get(variable)
    if not repository:
        pytest.skip(f"{variable} names no git repository")
    folder.mkdir(parents=True, exist_ok=True)
    packed = subprocess.run(
        ["git", "-C", repository, "archive", "HEAD", *paths], capture_output=True, check=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
    return folder


def dumped(tree: Path, package: str) -> dict[str, dict[str, str]]:
    """What OpenWrt's scan reads of a package: fields by name of each binary package."""
    command = ["make", "--no-print-directory", "-r", "-C", FEED / package, "DUMP=1", "FEED=mayfly", f"TOPDIR={tree}"]
    done = subprocess.run(command, env=os.environ | {"TOPDIR": str(tree)}, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    found = {}
    for block in done.stdout.split("\n\n"):
        fields = dict(re.findall(r"^([A-Z][\w-]*): (.*)$", block, re.MULTILINE))
        if "Package" in fields:
            found[fields["Package"]] = fields
    return found


def test_openwrt_reads_the_makefiles(tmp_path):
    tree = archive("MAYFLY_OPENWRT", tmp_path / "openwrt", "include", "scripts", "rules.mk")
    (version,) = re.findall(r'^version = "(.*)"', (guest.KERNEL.parent / "Cargo.toml").read_text(), re.MULTILINE)[:1]
    found = dumped(tree, "sched-lfq") | dumped(tree, "sqm-scripts-lfq")
    assert set(found) == {"kmod-sched-lfq", "tc-lfq", "sqm-scripts-lfq"}
    assert found["kmod-sched-lfq"]["Category"] == "Kernel modules"
    assert found["kmod-sched-lfq"]["Depends"] == "+kmod-sched-core"
    assert found["kmod-sched-lfq"]["Version"] == f"<LINUX_VERSION>.{version}-r1"
    assert found["tc-lfq"]["Version"] == found["sqm-scripts-lfq"]["Version"] == f"{version}-r1"
    assert {"+kmod-sched-lfq", "+tc-bpf"} <= set(found["tc-lfq"]["Depends"].split())
    assert {"+sqm-scripts", "+tc-lfq"} <= set(found["sqm-scripts-lfq"]["Depends"].split())


@pytest.fixture(scope="module")
def result(tmp_path_factory) -> dict:
    settings = {
        "folder": str(archive("MAYFLY_SQM_SCRIPTS", tmp_path_factory.mktemp("scripts"))),
        "ours": str(FEED / "sqm-scripts-lfq" / "files"),
        "configurations": {name: COMMON | values for name, values in CONFIGURATIONS.items()},
        "duration_s": 30.0,
    }
    return guest.run("sqm.py", settings, modules=("sch_lfq",))


def root(run: dict, device: str) -> dict:
    """Row of the root of a device while it ran."""
    return next(row for row in run["rows"][device] if row.get("root"))


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_it_starts_and_stops_without_a_word_of_error_and_leaves_the_router_as_it_was(result, name):
    run = result["runs"][name]
    for said in (run["started"], run["stopped"]):
        assert not re.search(r"error|warning|fail|not useable|not found", said, re.IGNORECASE), said
    assert "was started on eth0 successfully" in run["started"]
    assert "ifb4eth0" in run["during"]["links"] and run["during"]["files"] == ["eth0.state"]
    assert run["after"] == run["before"] | {"files": []}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_both_directions_get_the_rate_and_no_more(result, name):
    traffic = result["runs"][name]["traffic"]
    for way, kbit in (("up", UP_KBIT), ("down", DOWN_KBIT)):
        # Of 1514 bytes 1448 are data, in cells of ATM fewer; acknowledgements of the other direction take their part.
        data = 1448 / (33 * 53) if CONFIGURATIONS[name].get("LINKLAYER") == "atm" else 1448 / 1514
        rate = traffic[way]["bytes"] * 8 / traffic[way]["seconds"]
        assert traffic[way]["seconds"] > 5
        assert 0.85 * kbit * 1e3 * data < rate < 1.01 * kbit * 1e3 * data, (way, traffic)
    assert len(traffic["probes"]["times_ms"]) > 0.9 * traffic["probes"]["sent"] > 0


def test_the_discipline_has_the_options_of_sqm_scripts(result):
    plain = {device: root(result["runs"]["lfq"], device) for device in ("eth0", "ifb4eth0")}
    assert {row["kind"] for row in plain.values()} == {"lfq"}
    up, down = plain["eth0"]["options"], plain["ifb4eth0"]["options"]
    assert (up["bandwidth"], down["bandwidth"]) == (UP_KBIT * 125, DOWN_KBIT * 125)
    assert up["nat"] and down["nat"] and down["ingress"] and not up["ingress"]
    every = result["runs"]["everything"]
    up, down = root(every, "eth0")["options"], root(every, "ifb4eth0")["options"]
    for options in (up, down):
        assert (options["overhead"], options["mpu"], options["atm"]) == (40, 64, "atm")
    assert (up["limit"], down["limit"], up["user"], down["user"]) == (300, 500, "src", "dst")
    assert (up["ecn"], down["ecn"]) == (True, False)
    assert (up["target_ns"], down["target_ns"]) == (10_000_000, 5_000_000)


def test_what_came_in_went_through_the_other_device(result):
    for run in result["runs"].values():
        (shaped,) = (row for row in run["sent"]["ifb4eth0"] if row.get("root"))
        assert shaped["packets"] > 100


def test_the_kernel_did_not_complain(result):
    assert result["log"] == []
