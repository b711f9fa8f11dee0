"""Bounds of options where the kernel itself sees them: raw netlink, with no tc before it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import frames
import netlink

DEVICE = "void"


def run(settings: dict) -> list[list[str]]:
    """What the kernel answers to each of ``cases``, alone in a new queue discipline: error and reason.

    A case is the kind (``las``) and options as pairs of a name (``FLOWS``) and a value.
    """
    frames.ip(f"link add {DEVICE} type dummy")
    link = netlink.Netlink(DEVICE)
    known = {kind: {row.name: row for row in rows} for kind, rows in netlink.attributes().items()}
    answers = []
    for kind, options in settings["cases"]:
        rows = [(known[kind][name], value) for name, value in options]
        body = b"".join(netlink.attribute(row.number, netlink.number(value, row.size)) for row, value in rows)
        answer = link.qdisc(kind, body, 1 << 16, netlink.ROOT)
        if not answer[0]:
            (shown,) = [one for one in link.shown() if one.kind == kind]
            for row, value in rows:
                assert shown.options[row.number] == netlink.number(value, row.size), (kind, row, shown)
            assert not link.delete(1 << 16, netlink.ROOT)[0]
        answers.append(list(answer))
    return answers
