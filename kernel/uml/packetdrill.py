"""Scripts of packetdrill on the TCP of this kernel (benchmarks/packetdrill): a process and a namespace for each."""

import dataclasses
import json
import os
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from packetdrill import kernel, results


def run(settings: dict) -> dict:
    """Plays ``cases``, each a collection, a name, a path and a group; ``common`` is the folder with defaults.sh."""
    found = {}
    for collection, name, path, group in settings["cases"]:
        case = results.Case(collection, name, Path(path), group)
        found[f"{collection} {name}"] = apart(case, Path(settings["common"]))
    return {"release": os.uname().release, "verdicts": found}


def apart(case: results.Case, common: Path) -> dict | None:
    """The failure of a script, in a process of its own."""
    ours, its = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        try:
            kernel.isolated()
            failure = results.judge(case, kernel.kernel(case.path.parent, common)).failure
            told = json.dumps(dataclasses.asdict(failure) if failure else None)
        except BaseException:
            why = traceback.format_exc()
            told = json.dumps({"line": 0, "kind": "interpreter", "expected": "no exception", "came": why})
        os.write(its, told.encode())
        os._exit(0)
    os.close(its)
    with os.fdopen(ours) as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return json.loads(told)
