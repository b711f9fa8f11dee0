"""Queueing disciplines of interfaces, read again and again."""

import itertools
import json
import sys
import time
from contextlib import nullcontext

from rich.live import Live

from mayfly.qdisc.show import Row, rate_bps, read
from mayfly.qdisc.table import qdisc_table
from mayfly.show.terminal import PlainConsole

INTERVAL_S = 1.0


def watch(device: str | None, as_json: bool = False, readings: int | None = None) -> None:
    """Shows the disciplines every second until interrupted: a table that refreshes, or one JSON document a line.

    Parameters
    ----------
    device : str, optional
        One interface only.
    as_json : bool
        Documents in place of the table.
    readings : int, optional
        End after so many.

    Raises
    ------
    MayflyError
        There is no such interface, or no tc.
    """
    before: dict[tuple[str, str, str], Row] = {}
    last_s = time.monotonic()
    with Live(console=PlainConsole(), auto_refresh=False, screen=False) if not as_json else nullcontext() as live:
        for number in itertools.count(1):
            rows, now_s = read(device), time.monotonic()
            keys = [(row.device, row.handle, row.parent) for row in rows]
            rates = [rate_bps(before.get(key), row, now_s - last_s) for key, row in zip(keys, rows, strict=True)]
            if live is None:
                qdiscs = [row.document() | {"rate_bps": rate} for row, rate in zip(rows, rates, strict=True)]
                print(json.dumps({"time_s": time.time(), "qdiscs": qdiscs}))
                sys.stdout.flush()
            else:
                live.update(qdisc_table(rows, rates), refresh=True)
            if number == readings:
                return
            before, last_s = dict(zip(keys, rows, strict=True)), now_s
            time.sleep(INTERVAL_S)
