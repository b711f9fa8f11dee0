"""Records real programs talking through the network of `network.py`; run as root: ``record.py office FILE``.

A recording is refused, and nothing is written under the final name, when a program failed, the tap lost packets, or the
handshakes do not show the round-trip times of the delay lines.
"""

import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import typer
from census import Census, count
from network import SERVERS, UPLINK, AccessLink, Network, run
from plan import PLANS, Plan
from programs import LEAD_S, Office, start_servers

SNAPLEN_BYTES = 96
PROGRAMS = (
    *("ip", "tc", "sysctl", "ethtool", "tcpdump", "tshark", "editcap"),
    *("nginx", "rsync", "iperf3", "dnsmasq", "curl", "dig"),
)
# Scheduling on a busy machine may add to a handshake, nothing may take from it.
RTT_SLACK_MS = 3.0


def capture(network: Network, office: Office, plan: Plan, path: Path) -> int:
    """Capture for the plan's duration and return the number of packets the tap lost."""
    command = ["tcpdump", "-n", "-i", UPLINK, "-s", str(SNAPLEN_BYTES), "-B", "16384", "-Z", "root", "-w", str(path)]
    if ".pcapng" in path.suffixes:
        command.insert(1, "--nano")
    tap = network.start("router", *command, stderr=subprocess.PIPE, text=True)
    end_s = office.start_s + plan.duration_s
    while time.monotonic() < end_s:
        office.stop.wait(min(0.2, max(0.0, end_s - time.monotonic())))
        if office.failures or tap.poll() is not None:
            break
    office.stop.set()
    tap.send_signal(signal.SIGINT)
    report = tap.communicate()[1]
    if office.failures:
        raise RuntimeError("; ".join(office.failures))
    lost = re.search(r"(\d+) packets dropped by kernel", report)
    if lost is None:
        raise RuntimeError(f"tcpdump: no count of lost packets: {report.strip()}")
    return int(lost[1])


def check(census: Census) -> None:
    """Refuse a capture whose fastest handshake with a server does not show that server's delay line."""
    for name, server in SERVERS.items():
        rtts_ms = census.handshake_rtts_ms(name)
        if rtts_ms and not server.rtt_ms <= rtts_ms[0] <= server.rtt_ms + RTT_SLACK_MS:
            bounds = f"[{server.rtt_ms}, {server.rtt_ms + RTT_SLACK_MS}] ms"
            raise RuntimeError(f"{name}: fastest handshake {rtts_ms[0]:.2f} ms: must be in {bounds}")


def record(plan: Plan, path: Path) -> tuple[Census, tuple[int, int]]:
    """Run `plan` in a network of its own and write what the tap saw, gzipped, to `path`.

    Returns the census of the capture and the packets dropped by the shapers (down, up) during the plan.
    """
    network = Network(AccessLink())
    office = Office(network, plan)
    raw = network.directory / path.stem
    try:
        network.open()
        start_servers(network, plan)
        office.open()
        office.stop.wait(max(0.0, office.start_s - LEAD_S - time.monotonic()))
        lost = capture(network, office, plan, raw)
        drops = network.drops()
        if lost:
            raise RuntimeError(f"tap lost {lost} packets: must be 0")
        if ".pcapng" in path.suffixes:
            raw = as_pcapng(raw)
        census = count(str(raw))
        check(census)
        write_gzip(raw, path)
    finally:
        # The network must go away even when the user presses Ctrl-C again.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        office.stop.set()
        network.close()
        office.close()
    return census, drops


def as_pcapng(raw: Path) -> Path:
    """Rewrite a pcap file as pcapng (editcap) and return its path."""
    rewritten = raw.with_name(f"rewritten-{raw.name}")
    run("editcap", "-F", "pcapng", str(raw), str(rewritten))
    return rewritten


def write_gzip(raw: Path, path: Path) -> None:
    """Compress `raw` to `path`, which appears complete or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(gzip.compress(raw.read_bytes(), compresslevel=9, mtime=0))
    os.replace(part, path)


def interrupt(*_) -> None:
    """End the recording; the network is removed on the way out."""
    raise KeyboardInterrupt


def main(plan: str, path: Path, seed: int = 1) -> None:
    """Record PLAN (office or tiny) to PATH (.pcap.gz or .pcapng.gz)."""
    if plan not in PLANS:
        raise typer.BadParameter(f"plan {plan!r}: must be one of {', '.join(PLANS)}")
    if "".join(path.suffixes[-2:]) not in (".pcap.gz", ".pcapng.gz"):
        raise typer.BadParameter(f"path {str(path)!r}: must end in .pcap.gz or .pcapng.gz")
    if os.geteuid() != 0:
        raise typer.BadParameter(f"user {os.geteuid()}: must be root (0) to create network namespaces")
    if not path.resolve().parent.is_dir():
        raise typer.BadParameter(f"path {str(path)!r}: its directory must exist")
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        raise typer.BadParameter(f"programs {', '.join(missing)}: must be installed (packages: see captures/README.md)")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    try:
        census, drops = record(PLANS[plan](seed), path.resolve())
    except RuntimeError as error:
        sys.exit(f"record: {error}")
    size_bytes = path.stat().st_size
    result = f"{size_bytes:,} bytes, {census.packets:,} packets, {len(census.connections)} TCP connections"
    print(f"{path}: {result}, dropped on the access link: {drops[0]} down, {drops[1]} up", file=sys.stderr)


if __name__ == "__main__":
    typer.run(main)
