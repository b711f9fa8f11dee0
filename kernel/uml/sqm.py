"""sqm-scripts on a router between two namespaces: started, traffic both ways, stopped, with scripts and options in turn.

lan ── inner ── router ── eth0 ── wan
"""

import ctypes
import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from ends import go, inside, told

LAN, WAN = "10.8.1.2", "10.8.2.2"
SCRIPTS = Path("/run/scripts")
PROGRAM = Path("/run/sqm-program")
MS_BIND = 4096  # mount(2)
TROUBLE = ("BUG", "WARN", "Oops", "stall", "refcount")


def mount(source: str, target: str, kind: str, flags: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(source.encode(), target.encode(), kind.encode(), flags, b""):
        raise OSError(ctypes.get_errno(), f"mount {source} on {target}")


def shell(command: str) -> str:
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def sqm(action: str) -> str:
    """What the program `sqm` says to it."""
    done = subprocess.run([PROGRAM, action, "eth0"], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()


def set_up(folder: str, ours: str) -> None:
    """Devices and addresses; sqm-scripts of a folder, our script beside, in an /etc of their own."""
    for name, device, address in (("lan", "inner", LAN), ("wan", "eth0", WAN)):
        net = address.rpartition(".")[0]
        shell(f"ip netns add {name}")
        shell(f"ip link add {device} type veth peer name {device} netns {name}")
        for place, host in (("", 1), (f"ip netns exec {name} ", 2)):
            shell(f"{place}ethtool -K {device} tso off gso off gro off")
            shell(f"{place}ip addr add {net}.{host}/24 dev {device}")
            shell(f"{place}ip link set {device} up")
        shell(f"ip -n {name} route add default via {net}.1")
    Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
    shutil.copytree(f"{folder}/src", SCRIPTS)
    for name in ("lfq.qos", "lfq.qos.help"):
        shutil.copy(f"{ours}/{name}", SCRIPTS)
    for file in SCRIPTS.iterdir():
        file.chmod(0o755)
    # An /etc that may be written, with all that the host's has.
    host = Path("/run/etc")
    host.mkdir()
    mount("/etc", str(host), "", MS_BIND)
    mount("tmpfs", "/etc", "tmpfs", 0)
    for entry in host.iterdir():
        (Path("/etc") / entry.name).symlink_to(entry)
    etc = Path("/etc/sqm")
    etc.mkdir()
    shutil.copy(f"{folder}/platform/linux/default.conf", etc)
    lines = Path(f"{folder}/platform/linux/sqm.conf").read_text()
    (etc / "sqm.conf").write_text(f"{lines}\nSQM_LIB_DIR={SCRIPTS}\n")
    shutil.copy(f"{folder}/platform/linux/sqm-bin", PROGRAM)
    PROGRAM.chmod(0o755)


def state() -> dict:
    """All that sqm-scripts change: devices, disciplines, filters of the interface, offloads."""
    return {
        "links": sorted(row["ifname"] for row in json.loads(shell("ip -j link show"))),
        "qdiscs": shell("tc qdisc show"),
        "filters": shell("tc filter show dev eth0 ingress 2>&1 || true"),
        "offloads": shell("ethtool -k eth0"),
        "files": sorted(file.name for file in Path("/run/sqm").glob("*.state")) if Path("/run/sqm").exists() else [],
    }


def traffic(duration_s: float) -> dict:
    """What came of a transfer each way at once, in which time, and the round trip of probes beside them."""
    ends = {
        "up": inside("wan", "sink"),
        "down": inside("lan", "sink"),
        "probes": inside("lan", "probe", WAN),
        "echo": inside("wan", "echo"),
        "sends_up": inside("lan", "source", WAN),
        "sends_down": inside("wan", "source", LAN),
    }
    go([*ends.values()], duration_s)
    result = {name: told(end) for name, end in ends.items()}
    return result | {"median_ms": statistics.median(result["probes"]["times_ms"] or [-1])}


def one(configuration: dict[str, str], duration_s: float) -> dict:
    """Started with a configuration, looked at, traffic, stopped."""
    lines = "".join(f'{name}="{value}"\n' for name, value in configuration.items())
    Path("/etc/sqm/eth0.iface.conf").write_text(lines)
    result = {"before": state(), "started": sqm("start")}
    result["during"] = state()
    result["rows"] = {name: json.loads(shell(f"tc -s -j qdisc show dev {name}")) for name in result["during"]["links"]}
    result["traffic"] = traffic(duration_s)
    result["sent"] = {name: json.loads(shell(f"tc -s -j qdisc show dev {name}")) for name in result["during"]["links"]}
    result["stopped"] = sqm("stop")
    result["after"] = state()
    return result


def run(settings: dict) -> dict:
    """Each of ``configurations`` in turn.

    Parameters
    ----------
    settings : dict
        ``folder``: sqm-scripts; ``ours``: folder of lfq.qos; ``configurations``: variables of sqm-scripts by name; ``duration_s``.

    Returns
    -------
    dict
        ``runs``: what was before, during and after each, and its traffic; ``log``: lines of the kernel's of trouble.
    """
    set_up(settings["folder"], settings["ours"])
    runs = {name: one(values, settings["duration_s"]) for name, values in settings["configurations"].items()}
    log = shell("dmesg").splitlines()
    return {"runs": runs, "log": [line for line in log if any(word in line for word in TROUBLE)]}
