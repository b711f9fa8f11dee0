"""Our modules below htb on two processors: transfers through each, changed while packets pass, replaced, unloaded."""

import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from bottleneck import DEVICE, path, rows, tc, transfers, trouble

LEAF = f"{DEVICE} parent 1:1 handle 20:"
PEERS = ("pfifo limit 10", "sfq", "codel", "fq_codel", "pie", "cake unlimited", "netem limit 10")
PAUSE_S = 0.2


def loaded() -> list[str]:
    """Our modules that are in the kernel, those that need others first."""
    names = [line.split()[0] for line in Path("/proc/modules").read_text().splitlines()]
    ours = {file.stem for file in Path("/lib/modules").glob("*/updates/*.ko")}
    return sorted((name for name in names if name in ours), key=lambda name: name == "mayfly_common")


def change(row: dict, stop: threading.Event, answers: list[str]) -> None:
    """Changes options in turn until told to stop, then puts peers in the place of the leaf."""
    turn = 0
    while not stop.wait(PAUSE_S):
        answers.append(tc(f"qdisc change {LEAF} {row['tc']} {row['changes'][turn % len(row['changes'])]}"))
        turn += 1


def one(row: dict, settings: dict) -> dict:
    """A discipline: transfers through it, then with its options changing, then peers and it in turn."""
    added = tc(f"qdisc replace {LEAF} {row['tc']} {row['options']}")
    result = {"added": added, "still": transfers(settings), "changed": []}
    stop = threading.Event()
    changer = threading.Thread(target=change, args=(row, stop, result["changed"]))
    changer.start()
    bulk = threading.Thread(target=lambda: result.update(changing=transfers({**settings, "starts_s": [1.0, 2.0]})))
    bulk.start()
    bulk.join()
    stop.set()
    changer.join()
    result["refused"] = tc(f"qdisc change {LEAF} {row['tc']} {row['wrong']}")
    result["busy"] = subprocess.run(["rmmod", row["module"]], capture_output=True, text=True).stderr.strip()
    result["peers"] = []
    for number, peer in enumerate(PEERS):
        result["peers"].append(tc(f"qdisc replace {DEVICE} parent 1:1 handle {30 + number}: {peer}"))
        result["peers"].append(tc(f"qdisc replace {LEAF} {row['tc']} {row['options']}"))
    result["rows"] = rows()
    # The handle of the leaf is free for another discipline.
    result["peers"].append(tc(f"qdisc replace {DEVICE} parent 1:1 handle 30: pfifo limit 100"))
    return result


def run(settings: dict) -> dict:
    """Each row of ``modules`` in turn below one htb.

    Parameters
    ----------
    settings : dict
        As kernel/uml/transfers.py takes them, and ``modules``: rows of ``module``, ``tc`` (its name there), ``options``,
        ``changes`` (lists of options), ``wrong`` (an option it must refuse).

    Returns
    -------
    dict
        ``kernel``; ``processors``; ``modules``: results by name in tc; ``left``: rows of tc without htb's leaf;
        ``unloaded``: what rmmod complains about; ``log``: lines of the kernel's that tell of trouble.
    """
    path.set_up(settings["rate_bps"], settings["delay_s"], "pfifo limit 100", settings["sysctl"])
    cpus = Path("/proc/cpuinfo").read_text().count("processor\t")
    result = {"kernel": Path("/proc/sys/kernel/osrelease").read_text().strip(), "processors": cpus, "modules": {}}
    for row in settings["modules"]:
        result["modules"][row["tc"]] = one(row, settings)
    time.sleep(2.0)
    result["left"] = rows()
    tc(f"qdisc del {DEVICE} root")
    result["unloaded"] = [
        subprocess.run(["rmmod", name], capture_output=True, text=True).stderr.strip() for name in loaded()
    ]
    result["log"] = trouble()
    return result
