"""Time and memory of ``mayfly tree`` over the number of circuits, on a provider made up here.

    python benchmarks/trees.py [--circuits 100,1000,10000] [--disciplines LIST] [--duration 60s] [--threads N]

The provider has access points of 40 circuits and sites of 10 access points under one uplink. Circuits are sold 10 to
200 Mbit/s down and a fifth up; an access point has 400 Mbit/s, a site 2 Gbit/s, the uplink 1 Mbit/s for each 25 Mbit/s
that are sold. Each circuit has the traffic of one household (`scenarios/household.toml`). Every row runs in a process
of its own; its peak is that of the process.
"""

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLANS_MBPS = (10, 25, 50, 50, 100, 100, 200)
PER_AP, PER_SITE = 40, 10
AP_MBPS, SITE_MBPS = 400, 2000
CONTENTION = 25


def provider(count: int, folder: Path) -> tuple[Path, Path]:
    """Writes both files of a provider of so many circuits."""
    plans = [PLANS_MBPS[at % len(PLANS_MBPS)] for at in range(count)]
    aps = -(-count // PER_AP)
    sites: dict[str, dict] = {}
    for ap in range(aps):
        site = sites.setdefault(f"site {ap // PER_SITE}", _node(SITE_MBPS) | {"type": "site", "children": {}})
        site["children"][f"ap {ap}"] = _node(AP_MBPS) | {"type": "ap"}
    uplink = max(sum(plans) / CONTENTION, max(plans))
    nodes, devices = folder / "network.json", folder / "ShapedDevices.csv"
    nodes.write_text(json.dumps({"uplink": _node(uplink) | {"children": sites}}), encoding="utf-8")
    heads = "Circuit ID,Circuit Name,Parent Node,IPv4,IPv6,"
    heads += "Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps"
    with devices.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(heads.split(","))
        for at, plan in enumerate(plans):
            address = f"100.{64 + at // 65536}.{at // 256 % 256}.{at % 256}"
            rows.writerow([at, f"circuit {at}", f"ap {at // PER_AP}", address, "", 1, 0.5, plan, plan / 5])
    return nodes, devices


def _node(mbps: float) -> dict:
    return {"downloadBandwidthMbps": mbps, "uploadBandwidthMbps": mbps}


def measured(count: int, disciplines: str, duration: str, threads: int | None) -> dict:
    """One row, in this process."""
    from mayfly.trees.answer import tree

    with tempfile.TemporaryDirectory() as folder:
        nodes, devices = provider(count, Path(folder))
        began = time.monotonic()
        told = [0.0]

        def progress(done: float) -> None:
            if done >= told[0] + 0.05:
                told[0] = done
                print(f"  {done:4.0%} {time.monotonic() - began:6.0f} s", file=sys.stderr, flush=True)

        found = tree(
            nodes,
            devices,
            disciplines=disciplines,
            overrides={"duration": duration},
            progress=progress,
            workers=threads,
        )
        wall_s = time.monotonic() - began
        files = found.write(Path(folder) / "out")
        sizes = {name: Path(path).stat().st_size for name, path in files.items()}
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "circuits": count,
        "disciplines": disciplines,
        "duration": duration,
        "wall_s": round(wall_s, 1),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": round(usage.ru_maxrss / 1e3),
        "together": {row["label"]: row["together"] for row in found.summary["disciplines"]},
        "full": len(found.summary["full"]),
        "suffering": {row["label"]: row["suffering"] for row in found.summary["disciplines"]},
        "report_mb": round(sizes["report"] / 1e6, 1),
    }


def main() -> None:
    """Prints a JSON line of each number of circuits."""
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--circuits", default="100,1000,10000")
    given.add_argument("--disciplines", default="fifo,fq_codel,cake,lfq")
    given.add_argument("--duration", default="60s")
    given.add_argument("--threads", type=int, default=None)
    given.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = given.parse_args()
    counts = [int(text) for text in options.circuits.split(",")]
    if options.here:
        print(json.dumps(measured(counts[0], options.disciplines, options.duration, options.threads)))
        return
    for count in counts:
        more = ["--threads", str(options.threads)] if options.threads else []
        command = [sys.executable, __file__, "--here", "--circuits", str(count), "--disciplines", options.disciplines]
        done = subprocess.run(
            [*command, "--duration", options.duration, *more], check=True, stdout=subprocess.PIPE, text=True
        )
        print(done.stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
