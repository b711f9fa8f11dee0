"""The table of ``mayfly tree``: a row per circuit and discipline."""

from mayfly.tables import Column, Table

CIRCUITS = Table(
    "circuits",
    (
        Column("circuit", "string", "", "Name of the circuit."),
        Column("parent", "string", "", "Node it is in; null at the top.", nullable=True),
        Column("discipline", "string", "", "Label of the discipline at its queues."),
        Column("ceil_down_bps", "int64", "bit/s", "Most it may have towards its hosts."),
        Column("ceil_up_bps", "int64", "bit/s", "Most it may have from its hosts."),
        Column(
            "together",
            "string",
            "",
            "Node that was full, with all of whose circuits it was simulated; null where it was simulated alone.",
            nullable=True,
        ),
        Column("flows", "int64", "", "Flows of its hosts."),
        Column("unfinished", "int64", "", "TCP transfers that did not end in time."),
        Column("pings", "int64", "packets", "Pings that were counted."),
        Column("ping_p50_ms", "float64", "ms", "Median of its pings; null where none came back.", nullable=True),
        Column("ping_p95_ms", "float64", "ms", "95th percentile of its pings.", nullable=True),
        Column(
            "ping_least_ms",
            "float64",
            "ms",
            "Least ping under any discipline: that of the idle circuit.",
            nullable=True,
        ),
        Column("ping_lost", "float64", "", "Share of the pings that did not come back."),
        Column("short_flows", "int64", "", "Transfers of at most 100 kB."),
        Column(
            "short_p95_s",
            "float64",
            "s",
            "95th percentile of their times; null without any, and where it falls on one that did not end.",
            nullable=True,
        ),
        Column("utilisation_down", "float64", "", "What it got, as a share of its ceiling, over the whole time."),
        Column("utilisation_up", "float64", "", "The same from its hosts."),
        Column("peak_down", "float64", "", "The same in its busiest second."),
        Column("peak_up", "float64", "", "The same from its hosts."),
        Column("drops_down", "int64", "packets", "Dropped by its queue."),
        Column("drops_up", "int64", "packets", "Dropped by the queue from its hosts."),
        Column("marks", "int64", "packets", "Marked by both queues with congestion experienced."),
        Column("wait_down_ms", "float64", "ms", "Mean time in its queue; null without packets.", nullable=True),
        Column("wait_up_ms", "float64", "ms", "The same from its hosts.", nullable=True),
    ),
)

NODES = Table(
    "nodes",
    (
        Column("node", "string", "", "Name of the node."),
        Column("parent", "string", "", "Node it is in; null at the top.", nullable=True),
        Column("discipline", "string", "", "Label of the discipline at the queues of the circuits."),
        Column("circuits", "int64", "", "Circuits in it, and in the nodes in it."),
        Column("ceil_down_bps", "int64", "bit/s", "Most it may have towards the hosts."),
        Column("ceil_up_bps", "int64", "bit/s", "Most it may have from the hosts."),
        Column("full", "bool", "", "Whether its circuits were simulated together, because it was full."),
        Column(
            "wait_down_s",
            "float64",
            "s",
            "Time that packets would have waited for it at most, by what its circuits sent.",
        ),
        Column("wait_up_s", "float64", "s", "The same from the hosts."),
        Column("peak_down", "float64", "", "Share of its ceiling in its busiest second; above 1 is more than it had."),
        Column("peak_up", "float64", "", "The same from the hosts."),
        Column("utilisation_down", "float64", "", "Share of its ceiling over the whole time."),
        Column("utilisation_up", "float64", "", "The same from the hosts."),
    ),
)
