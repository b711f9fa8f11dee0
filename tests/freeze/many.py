"""Runs the commands that standard input lists, each as `mayfly` would, one JSON line for each.

It is started by `running.py` with the tree to be looked at on its path, and imports nothing else of this folder.
"""

import importlib
import io
import json
import os
import sys


def run(arguments: list[str]) -> tuple[int, str, str]:
    """Status, standard output and standard error of one command line."""
    main = importlib.import_module("mayfly.cli").main
    written = [io.BytesIO() for _ in range(2)]
    streams = [io.TextIOWrapper(into, encoding="utf-8", write_through=True) for into in written]
    kept, status = (sys.argv, sys.stdout, sys.stderr), 0
    sys.argv, sys.stdout, sys.stderr = ["mayfly", *arguments], *streams
    try:
        main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    finally:
        sys.argv, sys.stdout, sys.stderr = kept
    out, error = (into.getvalue().decode() for into in written)
    return status, out, error


if __name__ == "__main__":
    # This folder must not stand in the way of modules of the tree.
    sys.path.pop(0)
    # Native code that writes by itself must not come between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        folder, asked = json.loads(line)
        os.chdir(folder)
        print(json.dumps(run(asked)), file=answers, flush=True)
