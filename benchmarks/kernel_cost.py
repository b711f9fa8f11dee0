"""CPU time per packet of our queue disciplines in the kernel, beside fq_codel's and sfq's, in User Mode Linux.

Usage: python benchmarks/kernel_cost.py [ROUNDS [REPEATS]]; a round is 4096 packets of 1000 bytes, without GSO, sent by
one system call; every packet leaves at once. Each run is the guest's whole CPU time less that of a run of one round,
the least of the repeats, which take turns. What it costs to send and free a packet below `prio` is in each.
"""

import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "kernel"))
import guest
import qdiscs

LIMIT = "limit 1000"
OURS = [row.id for row in qdiscs.ROWS] + ["efd count packets", "efd count acked", "efd high las low las"]
LEAVES = [f"pfifo {LIMIT}", f"sfq {LIMIT}", f"fq_codel {LIMIT}"]
LEAVES += [f"{words[0]} {LIMIT} {' '.join(words[1:])}".strip() for words in map(str.split, OURS)]
PACKETS = 4096


def cpu_s(leaf: str, rounds: int) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    settings = {"leaf": leaf, "rounds": rounds, "flows": 256, "length": 1000}
    guest.run("cost.py", settings, modules=qdiscs.MODULES)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def per_packet_ns(rounds: int, repeats: int) -> dict[str, float]:
    least = {(leaf, count): float("inf") for leaf in LEAVES for count in (1, rounds)}
    for _ in range(repeats):
        for leaf, count in least:
            least[leaf, count] = min(least[leaf, count], cpu_s(leaf, count))
    packets = (rounds - 1) * PACKETS
    return {leaf: 1e9 * (least[leaf, rounds] - least[leaf, 1]) / packets for leaf in LEAVES}


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    guest.built()
    costs = per_packet_ns(rounds, repeats)
    peer = costs[f"fq_codel {LIMIT}"]
    print("| discipline | a packet, ns | of fq_codel |")
    print("|---|---:|---:|")
    for leaf, cost in costs.items():
        print(f"| `{leaf}` | {cost:.0f} | {cost / peer:.2f} |")


if __name__ == "__main__":
    main()
