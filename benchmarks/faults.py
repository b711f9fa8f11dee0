"""Every fault at every call of some commands on a disk that fails, and how they ended (``tests/helpers/faults.c``).

``.venv/bin/python benchmarks/faults.py`` runs all of them, in tens of minutes; ``--every 10`` each tenth. Ends with an
error when something does not hold: a file under its name is cut, a stored result is lost, more or less than one line is
told, or the command does not end well when it runs again.
"""

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))


def main(
    every: Annotated[int, typer.Option(metavar="N", help="Only each N-th fault")] = 1,
    names: Annotated[list[str] | None, typer.Option("--command", help="Only this command; repeatable")] = None,
    at_once: Annotated[int, typer.Option("--jobs", "-j", help="Trials at once")] = 2,
) -> None:
    """Runs the trials and prints a table."""
    import faults
    from fault_trials import cases, trials, unsafe_at_power_cut

    if faults.compiler() is None:
        raise typer.BadParameter("needs Linux and a C compiler")
    began = time.monotonic()
    ends: Counter[tuple[str, str, str]] = Counter()
    broken: list[str] = []
    with tempfile.TemporaryDirectory(prefix="faults-") as place, faults.warm(Path(place)) as warm:
        for case in cases(warm, Path(place), names or ()):
            folder = Path(place) / case.name.replace(" ", "-")
            folder.mkdir()
            chosen = [(case, fault) for fault in case.faults()][::every]
            print(f"{case.name}: {len(case.calls)} calls, {len(chosen)} faults", flush=True)
            found, wrong = trials(chosen, warm, folder, at_once)
            ends += found
            broken += wrong + unsafe_at_power_cut(case.calls, case.out)
            for (_, kind, end), count in sorted(found.items()):
                print(f"  {count:5}  {kind:7} {end}", flush=True)
    print(f"{ends.total() + len(broken)} faults, {len(broken)} broken, {time.monotonic() - began:.0f} s")
    for line in broken:
        print(line)
    raise typer.Exit(int(bool(broken)))


if __name__ == "__main__":
    typer.run(main)
