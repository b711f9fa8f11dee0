"""Figures 22 to 24 of Zhao 2004 in the kernel: estimates of `sch_estmred` beside byte counters.

Run as a program, the table of docs/kernel/sch_estmred.md, and with ``--page FILE`` the figures. A link of 12 Mb/s in
place of 100, with fewer flows that each have as many packets in flight; round trip, thresholds in packets and shares
are the paper's. One set of options for all figures.
"""

import argparse
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import guest
import numpy as np

from mayfly.papers.pictures import Curve, Picture, pictures_page

RATE_BPS = 12_000_000
LEAF = "estmred limit 60p min 15 max 45 avpkt 1514b bandwidth 12mbit rtt 100ms"
LOOK_S = 2 / 3
"""An estimation interval: 20 sampling intervals of a third of 100 ms."""
BEGIN_S = 60.0
"""Before, nothing is judged (Zhao 2004, III.C)."""
MEMORY = 0.975
"""Forgetting factor of estimates and measurements in the paper's figures (III.C)."""
SOURCES = 4
BASE = {
    "rate_bps": RATE_BPS,
    "delay_s": 0.05,
    "leaf": LEAF,
    # Without it a connection starts from what earlier ones to the same host left behind.
    "sysctl": {"net.ipv4.tcp_no_metrics_save": "1"},
    "flows": 4,
    "congestion": "reno",
    "packet_bytes": 1514,
    "mice": None,
    "look_s": LOOK_S,
    "seed": 1,
}


def udp(share: float, start: float, stop: float) -> list:
    """Sources that together send a share of the link's rate."""
    return [[share * RATE_BPS / SOURCES, start, stop]] * SOURCES


MICE = {"users": 10, "think_s": 1.0, "start_s": 90, "stop_s": 170}
FIGURES = {
    "22, 63 %": BASE | {"udp": udp(0.65, 0, 180), "duration_s": 180},
    "22, 76 %": BASE | {"udp": udp(0.78, 0, 180), "duration_s": 180},
    "22, 87 %": BASE | {"udp": udp(0.90, 0, 180), "duration_s": 180},
    "23, step": BASE | {"udp": udp(0.65, 0, 240) + udp(0.25, 100, 170), "duration_s": 240},
    "24, web": BASE | {"udp": udp(0.65, 0, 230), "duration_s": 230, "mice": MICE},
}


@dataclass(frozen=True)
class Run:
    """By estimation interval: its end, the share of UDP and web among the bytes that came, the estimate, its doubt."""

    time_s: np.ndarray
    measured: np.ndarray
    estimated: np.ndarray
    sure: np.ndarray
    status: str

    def smoothed(self) -> tuple[np.ndarray, np.ndarray]:
        """Measurement and estimate as the paper draws them, from `BEGIN_S`."""
        late = self.time_s > BEGIN_S
        columns = []
        for values in (self.measured[late], self.estimated[late]):
            filtered = [values[0]]
            for value in values[1:]:
                filtered.append(MEMORY * filtered[-1] + (1 - MEMORY) * value)
            columns.append(np.array(filtered))
        return columns[0], columns[1]

    def mse(self) -> float:
        """Mean squared error of the smoothed estimate (Zhao 2004, II.C and III.C)."""
        measured, estimated = self.smoothed()
        return float(np.mean((measured - estimated) ** 2))

    def mse_unsmoothed(self) -> float:
        late = self.time_s > BEGIN_S
        return float(np.mean((self.measured - self.estimated)[late] ** 2))


def reduced(result: dict) -> Run:
    """What `ponrt.py` in the guest returned."""
    rows = result["rows"]
    long, cbr, web = (np.diff([0, *(row[name] for row in rows)]) for name in ("client", "cbr", "web"))
    return Run(
        time_s=np.array([row["time_s"] for row in rows]),
        measured=(cbr + web) / (long + cbr + web),
        estimated=np.array([np.nan if row["share"] is None else row["share"] for row in rows]),
        sure=np.array([row["doubt"] == "sure" for row in rows]),
        status=result["status"],
    )


@cache
def in_kernel(figure: str) -> Run:
    return reduced(guest.run("ponrt.py", FIGURES[figure], modules=("sch_estmred",)))


def table(runs: dict[str, Run]) -> str:
    """Markdown."""
    lines = [
        "| figure | measured | estimate | MSE, as drawn | MSE, unsmoothed |",
        "|---|---:|---:|---:|---:|",
    ]
    for figure, run in runs.items():
        late = run.time_s > BEGIN_S
        lines.append(
            f"| {figure} | {run.measured[late].mean():.3f} | {run.estimated[late].mean():.3f} | {run.mse():.5f} | "
            f"{run.mse_unsmoothed():.5f} |"
        )
    return "\n".join(lines)


def pictures(runs: dict[str, Run]) -> str:
    """The figures, as an HTML page that opens offline."""
    drawn = []
    for figure, run in runs.items():
        measured, estimated = run.smoothed()
        late = run.time_s[run.time_s > BEGIN_S]
        curves = (
            Curve("estimate, unsmoothed", "by estimation interval", run.time_s, run.estimated, points=True),
            Curve("measured", "share of UDP and web in the bytes that came, smoothed", late, measured),
            Curve("estimate", "smoothed alike, forgetting factor 0.975", late, estimated),
        )
        key = "figure-" + figure.replace(" ", "").replace(",", "-").rstrip("%")
        caption = f"MSE of what is smoothed {run.mse():.5f}, of what is not {run.mse_unsmoothed():.5f}."
        drawn.append(Picture(key, f"Figure {figure}", caption, "time, s", "share that does not respond", curves))
    return pictures_page("Zhao 2004, Figures 22 to 24, in the kernel", drawn)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, help="draw the figures into this HTML file")
    parser.add_argument("results", nargs="*", type=Path, help="what the guest returned, in the order of FIGURES")
    given = parser.parse_args()
    results = (json.loads(path.read_text()) for path in given.results)
    runs = dict(zip(FIGURES, map(reduced, results), strict=True)) if given.results else None
    runs = runs or {figure: in_kernel(figure) for figure in FIGURES}
    if given.page:
        given.page.write_text(pictures(runs))
    print(table(runs))
    print(runs["22, 87 %"].status)


if __name__ == "__main__":
    main()
