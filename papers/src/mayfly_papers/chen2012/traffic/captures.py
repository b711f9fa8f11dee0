"""Chen 2012, ch. 8: what is said of enterprise traffic, held against the captures at hand.

The trace of the paper is not public. Its numbers stand beside those of other networks: a statement that is not so
there is not wrong, and one that is so is not proved. What words are taken to mean: *the majority*, more
than half; *no evident difference*, medians within a factor of 1.25; *fits best*, the smallest AIC of the four laws.
"""

from mayfly_papers.declare import data
from mayfly_papers.declare.capture_facts import (
    ABOUT,
    CAPTURES,
    aic_ahead,
    class_share,
    down_over_up,
    fact,
    side_share,
    told,
)
from mayfly_papers.declare.declaration import Claim, Printed, Row, Runs
from mayfly_papers.declare.markdown import number, table
from mayfly_papers.declare.rows import Quantity, at_least, printed_beside, within

PRINTED = data.printed(__package__)

FOUR = ("exponential", "lognormal", "weibull", "pareto")

TABLE_8_1 = PRINTED["table_8_1"]

TABLE_8_2 = PRINTED["table_8_2"]
"""Connections, bytes and packets of the classes."""

MEASURES = ("connections", "bytes", "packets")

DIFFERENCES = data.reasons(__package__)


def _claim(name: str, source: str, says: str, rows: list[Row], note: str = "") -> Claim:
    used = ", ".join(f"{row.name.rpartition(', ')[2]}" for row in rows)
    return Claim(name, f"Chen 2012, {source}", says, f"Profile of: {used}", tuple(rows), DIFFERENCES.get(name), note)


def composition() -> list[Claim]:
    """Tables 8.1 and 8.2."""
    counted = sum(counts[0] for counts in TABLE_8_2.values()) / TABLE_8_1["connections"]
    whole = [
        printed_beside(
            f"connections of all classes over all, {name}",
            fact(name, lambda d: sum(row["connections"] for row in d["composition"]) / d["dataset"]["connections"]),
            Printed(round(counted, 4)),
        )
        for name in CAPTURES
    ]
    side = [
        at_least(
            "share of the internal, bytes, lab",
            fact("lab", lambda d: side_share(d, "internal")),
            0.5,
            printed=Printed(PRINTED["composition"]["share of the internal, bytes, lab"]),
        )
    ]
    external = [
        at_least(
            f"share of lc-rp in the external, bytes, {name}",
            fact(name, lambda d: class_share(d, "lc-rp")),
            0.5,
            printed=Printed(PRINTED["composition"]["share of lc-rp in the external, bytes"]),
        )
        for name in CAPTURES
    ]
    internal = [
        at_least(
            "share of lc-ls in the internal, bytes, lab",
            fact("lab", lambda d: class_share(d, "lc-ls")),
            2 / 3,
            printed=Printed(PRINTED["composition"]["share of lc-ls in the internal, bytes, lab"]),
        )
    ]
    seen = (
        "The office and the home were taken at the link to the outside, where little or nothing internal passes; the "
        "mix is of many sites."
    )
    return [
        _claim("classes-add-up", "8.2, Tables 8.1 and 8.2", "the classes make up the traffic", whole),
        _claim("table-8-2-internal", "8.2", "the majority of the traffic is local to the enterprise", side, seen),
        _claim(
            "table-8-2-external",
            "8.2, Table 8.2",
            "transfers of local clients carry the majority of the external traffic",
            external,
        ),
        _claim(
            "table-8-2-servers",
            "8.2, Table 8.2",
            "transfers of local clients and servers are more than two thirds of the internal traffic",
            internal,
            seen,
        ),
    ]


def both_ways() -> Claim:
    """Fig. 8.1."""
    rows = [
        at_least(
            f"external, down over up, bytes, {name}",
            fact(name, lambda d: down_over_up(d, "external")),
            1,
            printed=Printed(PRINTED["both_ways"]["external, down over up, bytes"]),
        )
        for name in CAPTURES
    ]
    rows.append(within("internal, down over up, bytes, lab", fact("lab", lambda d: down_over_up(d, "internal")), 1.25))
    says = "internal uploads and downloads share the volume fairly, external ones do not: a tenth is uploads"
    return _claim("figure-8-1", "8.2 and 8.5, Fig. 8.1", says, rows)


def flows() -> list[Claim]:
    """Fig. 8.3 and 8.4."""
    mass = [
        at_least(
            f"share of the bytes in the largest 5 %, {name}",
            fact(name, lambda d: d["size_bytes"]["carried_by_largest_5_percent"]),
            0.5,
        )
        for name in CAPTURES
    ]

    def medians(measure: str, name: str):
        return fact(name, lambda d: d[measure]["external"]["q50"] / d[measure]["internal"]["q50"])

    longer = [
        at_least(
            f"median duration, external over internal, {name}",
            medians("duration_s", name),
            1,
            printed=Printed(PRINTED["flows"]["median duration, external over internal"]),
        )
        for name in ("lab", "home", "mix")
    ]
    gaps = [
        within(f"median gap, external over internal, {name}", medians("gap_s", name), 1.25) for name in ("lab", "home")
    ]
    return [
        _claim(
            "figure-8-3-mass",
            "8.3.2, Fig. 8.3",
            "less than 5 % of the connections carry the majority of the bytes",
            mass,
        ),
        _claim(
            "figure-8-4-durations",
            "8.3.2, Fig. 8.4(a)",
            "external flows last longer, with a median of 10 s where internal ones have 0.5 s",
            longer,
        ),
        _claim(
            "figure-8-4-gaps",
            "8.3.2, Fig. 8.4(b)",
            "times between arrivals show no evident difference of internal and external flows",
            gaps,
        ),
    ]


def laws() -> list[Claim]:
    """Fig. 8.5 and 8.6."""

    def ahead(name: str, measure: str, law: str) -> Quantity:
        return fact(name, lambda d: aic_ahead(d, measure, law, FOUR))

    found = []
    for figure, measure, law, names in (
        ("figure-8-5", "gap_s", "weibull", ("office", "lab", "home")),
        ("figure-8-6", "size_bytes", "lognormal", tuple(CAPTURES)),
    ):
        rows = [
            at_least(
                f"AIC of the best other law less that of {law}, {name}",
                ahead(name, measure, law),
                0,
            )
            for name in names
        ]
        what = "times between arrivals" if measure == "gap_s" else "flow sizes"
        says = f"of the exponential, lognormal, Weibull and Pareto laws {law} fits {what} best"
        found.append(_claim(figure, f"8.3.2, Fig. {figure[-3:].replace('-', '.')}", says, rows))
    return found


CLAIMS = (*composition(), both_ways(), *flows(), *laws())
"""Claims of ch. 8; Tables 8.3 and 8.4 are intervals by formula (:mod:`mayfly_papers.formulas.claims`)."""


def tables(runs: Runs) -> str:
    """Tables 8.1 and 8.2, Fig. 8.1 and 8.7 to 8.13 with ours beside them, as Markdown."""
    return "\n\n".join(["## Tables", _dataset(), _classes(), _ratios()])


def _dataset() -> str:
    head = ["", "Eurecom", *CAPTURES]
    documents = [told(name)["dataset"] for name in CAPTURES]
    body = [
        ["date", TABLE_8_1["date"], *((d["date"] or "").partition(" ")[0] for d in documents)],
        ["duration", TABLE_8_1["duration"], *(f"{number(d['duration_s'])} s" for d in documents)],
        ["connections", f"{TABLE_8_1['connections']:,}", *(f"{d['connections']:,}" for d in documents)],
        ["bytes", f"{TABLE_8_1['GB']} GB", *(f"{d['bytes'] / 1e6:.1f} MB" for d in documents)],
        ["packets", "564.3 M", *(f"{d['packets']:,}" for d in documents)],
        ["local hosts", str(TABLE_8_1["hosts"]), *(str(d["local_hosts"]) for d in documents)],
    ]
    about = "\n".join(f"- {name}: {text}" for name, text in ABOUT.items())
    return f"Table 8.1. The captures:\n\n{about}\n\n{table(head, body)}"


def _classes() -> str:
    body = []
    for place, measure in enumerate(MEASURES):
        for name, counts in TABLE_8_2.items():
            side = ("lc-rp", "ls-rp") if name.endswith("rp") else ("lc-ls", "ls-ls")
            theirs = 100 * counts[place] / sum(TABLE_8_2[other][place] for other in side)
            ours = (f"{100 * class_share(told(capture), name, measure):.1f}" for capture in CAPTURES)
            body.append([measure, name, f"{theirs:.1f}", *ours])
    note = (
        "Table 8.2, % of the side. The shares of Eurecom are of the sum of its two classes; ours leave room for "
        "`other`, and are 0 where nothing of the side was seen."
    )
    return f"{note}\n\n{table(['', 'class', 'Eurecom', *CAPTURES], body)}"


def _ratios() -> str:
    """Medians over clients of the site."""
    rows = [
        ("internal over external, bytes (8.7)", "10", lambda h: h["internal_external"]["bytes"]),
        ("down over up, internal, bytes (8.8)", "1", lambda h: h["down_up_internal"]["bytes"]),
        ("down over up, external, bytes (8.8)", "10", lambda h: h["down_up_external"]["bytes"]),
        ("down over up, internal, packets (8.10)", "", lambda h: h["down_up_internal"]["packets"]),
        ("down over up, external, packets (8.10)", "", lambda h: h["down_up_external"]["packets"]),
    ]
    body = []
    for text, theirs, of in rows:
        cells = [of(told(name)["hosts"]) for name in CAPTURES]
        body.append([text, theirs, *("–" if not c["n"] else f"{number(c['q50'])} ({c['n']})" for c in cells)])
    below = [told(name)["hosts"]["traffic_bytes"]["below_1_MB"] for name in CAPTURES]
    body.append(["hosts below 1 MB (8.13)", "", *(f"{100 * part:.0f} %" for part in below)])
    note = (
        "Fig. 8.7 to 8.10 and 8.13: medians over the clients of the site, and of how many; Eurecom's as the text reads "
        "its figures. In the traces of LBNL, where the roles of the paper fail, more than 80 % of the hosts are below "
        "1 MB."
    )
    return f"{note}\n\n{table(['', 'Eurecom', *CAPTURES], body)}"
