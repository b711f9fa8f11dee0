"""An access point of hostapd and mac80211_hwsim: its bridge, stations in namespaces, a queue discipline on the downlink.

    wire ── eth0 ── br0 ── wlan0 ~ ~ ~ sta1, sta2, sta3

All radios hear each other at once and without loss: what stations do to each other on the air is not there.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "uml"))
from ends import go, inside, told

WIRE = "10.9.0.1"
STATIONS = {"sta1": "10.9.0.11", "sta2": "10.9.0.12", "sta3": "10.9.0.13"}
ASSOCIATED_S = 60.0
TROUBLE = ("BUG", "WARN", "Oops", "stall", "refcount")


def shell(command: str) -> str:
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def rows() -> list[dict]:
    return json.loads(shell("tc -s -j qdisc show dev wlan0"))


def traffic(duration_s: float) -> dict:
    """A download to sta1 and an upload of sta2 at once, probes to sta3; what waits at wlan0 in the middle."""
    ends = {
        "download": inside("sta1", "sink"),
        "upload": inside("wire", "sink"),
        "probes": inside("wire", "probe", STATIONS["sta3"]),
        "echo": inside("sta3", "echo"),
        "down": inside("wire", "source", STATIONS["sta1"]),
        "up": inside("sta2", "source", WIRE),
    }
    until_s = go([*ends.values()], duration_s)
    waiting = []
    while time.monotonic() < until_s - 2:
        time.sleep(1)
        waiting.append(sum(row.get("qlen", 0) for row in rows() if not row.get("parent")))
    result = {"middle": rows(), "qlen_max": max(waiting)} | {name: told(end) for name, end in ends.items()}
    times = result["probes"]["times_ms"]
    return result | {"median_ms": statistics.median(times) if times else None}


def set_up(settings: dict) -> None:
    """The access point as the recipe's lines make it, wire and stations, each associated and with its address."""
    Path("/var").mkdir(exist_ok=True)
    Path("/var/run").symlink_to("/run")  # iw looks for namespaces there
    for name in ("wire", *STATIONS):
        shell(f"ip netns add {name}")
        shell(f"ip -n {name} link set lo up")
    shell("ip link add eth0 type veth peer name eth0 netns wire")
    for place in ("", "ip netns exec wire "):
        shell(f"{place}ethtool -K eth0 tso off gso off gro off")
        shell(f"{place}ip link set eth0 up")
    shell(f"ip -n wire addr add {WIRE}/24 dev eth0")
    shell(f"modprobe mac80211_hwsim radios={1 + len(STATIONS)}")
    for number, name in enumerate(STATIONS, 1):
        phy = Path(f"/sys/class/net/wlan{number}/phy80211/name").read_text().strip()
        shell(f"iw phy {phy} set netns name {name}")
    Path("/etc/hostapd").mkdir(parents=True)
    Path("/etc/hostapd/hostapd.conf").write_text(settings["configuration"])
    for command in settings["bridge"]:
        shell(command)
    for number, (name, address) in enumerate(STATIONS.items(), 1):
        device = f"wlan{number}"
        shell(f"ip -n {name} link set {device} up")
        shell(f"ip -n {name} addr add {address}/24 dev {device}")
        shell(f"ip netns exec {name} iw dev {device} connect office")
    last_s = time.monotonic() + ASSOCIATED_S
    for number, name in enumerate(STATIONS, 1):
        while "Connected to" not in shell(f"ip netns exec {name} iw dev wlan{number} link"):
            if time.monotonic() > last_s:
                raise RuntimeError(f"{name} is not associated: {shell('iw dev wlan0 station dump')}")
            time.sleep(0.5)


def run(settings: dict) -> dict:
    """Traffic through the access point as it is and with each of ``ways``.

    Parameters
    ----------
    settings : dict
        ``configuration``: hostapd's; ``bridge``: commands of the recipe; ``ways``: commands by name; ``duration_s``.

    Returns
    -------
    dict
        ``kernel``; ``before``, ``after``: rows of tc at wlan0 without a discipline; ``bridged``: ports of br0;
        ``stations``: of which the access point knows; ``ways``: traffic by name, "" for none; ``log``: trouble.
    """
    set_up(settings)
    result = {"kernel": Path("/proc/sys/kernel/osrelease").read_text().strip(), "before": rows(), "ways": {}}
    result["bridged"] = sorted(row["ifname"] for row in json.loads(shell("ip -j link show master br0")))
    result["stations"] = shell("iw dev wlan0 station dump").count("Station ")
    for name, commands in {"": [], **settings["ways"]}.items():
        for command in commands:
            shell(command)
        result["ways"][name] = traffic(settings["duration_s"])
        if commands:
            shell("tc qdisc del dev wlan0 root")
    result["dump"] = shell("iw dev wlan0 station dump")
    result["after"] = rows()
    log = shell("dmesg").splitlines()
    result["log"] = [line for line in log if any(word in line for word in TROUBLE)]
    return result
