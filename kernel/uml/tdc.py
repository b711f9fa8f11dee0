"""Test cases of tc in the kernel's own format, run by its own driver, tdc.py: see kernel/tdc."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import modules

TREE = Path("/run/tc-testing")
RESULT = re.compile(r"^(ok|not ok) \d+ (\w+) - (.*)$", re.MULTILINE)


def run(settings: dict) -> dict:
    """Runs the cases of the files `files` by the driver of the folder `driver`.

    Returns
    -------
    dict
        ``results``: of each case its id, name and outcome, ``ok``, ``not ok`` or ``skipped``; ``output``: what the
        driver printed; ``status``: its exit status.
    """
    shutil.copytree(settings["driver"], TREE)
    # Commands run without an environment but this one.
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TC_LIB_DIR": str(modules.FOLDER)}
    names = {name: shutil.which(name.lower()) for name in ("TC", "IP")}
    (TREE / "tdc_config_local.py").write_text(f"ENVIR = {environment!r}\nEXTRA_NAMES = {names!r}\n")
    command = [sys.executable, "tdc.py", "--outfile", "results.tap", "-f", *settings["files"]]
    done = subprocess.run(command, cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    tap = TREE / "results.tap"
    results = [
        {"id": id, "name": name, "outcome": "skipped" if "# skipped" in name else outcome}
        for outcome, id, name in RESULT.findall(tap.read_text() if tap.exists() else "")
    ]
    return {"results": results, "output": done.stdout, "status": done.returncode}
