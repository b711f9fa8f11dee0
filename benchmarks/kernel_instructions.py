"""Instructions per packet, and memory, of lfq beside pfifo, fq_codel and cake, in Debian's own kernel.

    python benchmarks/kernel_instructions.py [--write docs/arena-kernel.md] [--quick]

qemu emulates one processor and counts an instruction as a nanosecond (-icount), so that the figures do not depend on
how busy the machine is. `--write` puts the tables into a page, between the comments that name this file.
"""

import datetime
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from page_parts import put

from mayfly.engines import guest

KERNEL = Path(__file__).resolve().parents[1] / "kernel"
QEMU = KERNEL / "qemu"

SUITE = "bookworm"
NAME = "benchmarks/kernel_instructions.py"
MODULES = ("dummy", "sch_htb", "sch_netem", "sch_fq_codel", "sch_cake")
MEMORY = "1536M"
BUILD = "make -s modules plugins OUT=/build/out CC=gcc KDIR=$(echo /lib/modules/*)/build"
FLOWS = (1, 64, 1024, 64_000)
# Those that all wait do so for seconds: no AQM shall drop them.
LEAVES = {
    "pfifo": "pfifo limit 131072",
    "fq_codel": "fq_codel limit 131072 memory_limit 512mb target 4s interval 4s",
    "cake": "cake unlimited memlimit 512mb rtt 100s",
    "lfq": "lfq limit 131072p memlimit 1gb target 4s interval 4s",
}
RATE = "100gbit"
SHAPED = {"cake": f"cake bandwidth {RATE} memlimit 512mb", "lfq": f"lfq bandwidth {RATE} limit 131072p"}
IDLE = {"pfifo": "pfifo", "fq_codel": "fq_codel", "cake": "cake", "lfq": "lfq"}
PACKETS = 65_536
OURS, BOUNDS = "lfq", {"fq_codel": 1.1, "cake": 0.8}
"""What lfq may cost, as multiples of the others."""


def lines(name: str) -> list[str]:
    """As one would set it up: with a shaper of its own, or below htb."""
    if name in SHAPED:
        return [f"qdisc add DEV root handle 10: {SHAPED[name]}"]
    return [
        "qdisc add DEV root handle 1: htb default 1",
        f"class add DEV parent 1: classid 1:1 htb rate {RATE} quantum 60000",
        f"qdisc add DEV parent 1:1 handle 10: {LEAVES[name]}",
    ]


def cases(flows: tuple[int, ...], packets: int) -> list[dict]:
    """Rows of kernel/qemu/cost.py."""
    found = []
    for count in flows:
        frames = 4096 if count <= 4096 else 65_536
        for waits in (False, True):
            for name, leaf in LEAVES.items():
                row = {
                    "name": name,
                    "flows": count,
                    "count": frames,
                    "rounds": max(2, packets // frames),
                    "waits": waits,
                }
                found.append(row | ({"leaf": leaf} if waits else {"lines": lines(name)}))
    return found


def inside(root: Path, command: str, given: bytes = b"") -> bytes:
    """Runs a command of bash with that Debian as its root; what it prints."""
    done = subprocess.run(
        [QEMU / "in.sh", root, "bash", "-euo", "pipefail", "-c", command], input=given, capture_output=True
    )
    if done.returncode:
        sys.exit(f"{command}: {done.stderr.decode()[-2000:]}")
    return done.stdout


def counted(settings: dict[str, Any]) -> dict[str, Any]:
    """Calls `run(settings)` of kernel/qemu/cost.py in Debian's kernel on one processor that counts."""
    cache = guest.cached() / "counted"  # tests build in theirs
    done = subprocess.run([QEMU / "root.sh", SUITE, cache], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip().splitlines()[-1])
    root = Path(done.stdout.strip()) / "root"
    shutil.rmtree(root / "build", ignore_errors=True)
    shutil.copytree(KERNEL, root / "build", ignore=shutil.ignore_patterns("build", "__pycache__", "*.o"))
    inside(root, f"cd /build && {BUILD} && bash qemu/pack.sh /guest {' '.join(MODULES)}")
    pack = 'cd "$(mktemp -d)" && cat >settings.json && echo settings.json | cpio -o -H newc --quiet'
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        archive = inside(root, pack, json.dumps(settings).encode())
        (folder / "initramfs").write_bytes(archive + (root / "guest").read_bytes())
        command = ["qemu-system-x86_64", "-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-smp", "1"]
        command += ["-cpu", "max,cx16=off", "-machine", "q35", "-m", MEMORY, "-display", "none", "-monitor", "none"]
        command += ["-nodefaults", "-no-reboot", "-serial", "stdio", "-serial", f"file:{folder / 'result'}"]
        command += ["-kernel", next(root.glob("boot/vmlinuz-*")), "-initrd", folder / "initramfs", "-append"]
        words = "console=ttyS0 quiet panic=-1 mitigations=off rdinit=/usr/bin/python3"
        command.append(f"{words} -- /build/qemu/init.py /build/qemu/cost.py")
        told = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        text = (folder / "result").read_text() if (folder / "result").exists() else ""
    answer = json.loads(text) if text else {"failure": told.stdout[-3000:] + told.stderr[-2000:]}
    if "failure" in answer:
        sys.exit(f"the guest failed: {answer['failure']}")
    return answer["result"]


def run(flows: tuple[int, ...] = FLOWS, packets: int = PACKETS) -> dict:
    """Figures of all cases, and what ran."""
    rows = cases(flows, packets)
    settings = {"cases": rows, "memory": list(IDLE.values()), "modules": ["sch_htb", "sch_netem", "sch_lfq"]}
    found = counted(settings)
    for row, told in zip(rows, found["cases"], strict=True):
        row["ns"] = told["ns"]
        shown = json.loads(told["shown"])
        leaf = next(one for one in shown if one["handle"] == "10:")
        row["drops"] = leaf["drops"]
    return {"cases": rows, "memory": dict(zip(IDLE, found["memory"].values(), strict=True))}


def table(found: dict) -> str:
    """Both tables."""
    cost = {(row["waits"], row["flows"], row["name"]): row["ns"] for row in found["cases"]}
    lost = {(row["waits"], row["flows"], row["name"]): row["drops"] for row in found["cases"] if row["drops"]}
    ratios = {
        (waits, flows, name): cost[waits, flows, OURS] / cost[waits, flows, name]
        for waits, flows, other in cost
        if other == OURS
        for name in BOUNDS
    }
    # Who drops does less: no such row counts.
    whole = {
        key: ratio for key, ratio in ratios.items() if not any((*key[:2], name) in lost for name in (OURS, *BOUNDS))
    }
    held = {name: [ratio <= BOUNDS[name] for key, ratio in whole.items() if key[2] == name] for name in BOUNDS}
    told = "; ".join(
        f"at most {BOUNDS[name]} times {name} in {sum(own)} of {len(own)} rows" for name, own in held.items()
    )
    parts = [
        "## Cost of a packet",
        "",
        f"{OURS} costs {told} in which none drops.",
        "",
        f"Made on {datetime.date.today().isoformat()} by `python benchmarks/kernel_instructions.py --write "
        f"docs/arena-kernel.md`: instructions per packet of 1000 bytes in Debian's 6.1, from the sender's ring to the "
        "device, the packet's own allocation and freeing in each. At once: as one sets it up, pfifo and fq_codel below "
        "htb, cake and lfq with `bandwidth`, and each packet leaves at once. Waiting: below netem, all packets come, "
        "then all leave (to some 3 %). One packet of each flow in turn, 16 flows a host, without GSO. In brackets lfq "
        "over fq_codel, and over cake.",
        "",
    ]
    for waits, title in ((False, "at once, with shaper"), (True, "all wait")):
        parts += [f"| {title}: flows | " + " | ".join(LEAVES) + " |", "|---:|" + "---:|" * len(LEAVES)]
        for count in sorted({row["flows"] for row in found["cases"]}):
            cells = []
            for name in LEAVES:
                drops = lost.get((waits, count, name), 0)
                cells.append(f"{cost[waits, count, name]:,.0f}" + (f", {drops:,} dropped" if drops else ""))
            over = ", ".join(f"{ratios[waits, count, name]:.2f}" for name in BOUNDS)
            parts.append(f"| {count:,} | {' | '.join(cells)} ({over}) |")
        parts.append("")
    parts += [
        "| memory of an idle queue | " + " | ".join(IDLE) + " |",
        "|---|" + "---:|" * len(IDLE),
        "| kB | " + " | ".join(f"{found['memory'][name] / 1000:,.0f}" for name in IDLE) + " |",
    ]
    return "\n".join(parts)


def main(
    page: Annotated[Path | None, typer.Option("--write", help="Page whose tables are replaced")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    given: Annotated[Path | None, typer.Option("--from", help="What --json printed, in place of a run")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="64 flows and few packets")] = False,
) -> None:
    """Count instructions of packets."""
    found = json.loads(given.read_text()) if given else run((64,), 16_384) if quick else run()
    if as_json:
        print(json.dumps(found, indent=1))
    elif page is not None:
        put(page, NAME, table(found))
    else:
        print(table(found))


if __name__ == "__main__":
    typer.run(main)
