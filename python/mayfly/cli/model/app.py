"""`mayfly model`: answers of queueing models, without a simulation."""

import typer

from mayfly.cli.lazy import LazyGroup, Table

COMMANDS: Table = {
    "fifo": ("mayfly.cli.model.policy", "M/G/1 first come, first served: mean response time by size."),
    "ps": ("mayfly.cli.model.policy", "M/G/1 processor sharing: mean response time by size."),
    "las": ("mayfly.cli.model.policy", "M/G/1 least attained service: mean response time by size."),
    "lasack": (
        "mayfly.cli.model.policy",
        "M/G/1 least attained service, uploads by what is acknowledged: mean response time by size.",
    ),
    "run2c": ("mayfly.cli.model.policy", "M/G/1 two levels of processor sharing: mean response time by size."),
    "levels": ("mayfly.cli.model.policy", "M/G/1 levels of processor sharing: mean response time by size."),
    "las-ps": (
        "mayfly.cli.model.policy",
        "M/G/1 least attained service up to a size, shared beyond: mean response time by size.",
    ),
    "srpt": ("mayfly.cli.model.policy", "M/G/1 shortest remaining processing time: mean response time by size."),
    "psjf": ("mayfly.cli.model.policy", "M/G/1 preemptive shortest job first: mean response time by size."),
    "sjf": ("mayfly.cli.model.policy", "M/G/1 shortest job first: mean response time by size."),
    "gittins": ("mayfly.cli.model.policy", "M/G/1 Gittins index by age: mean response time by size."),
    "levels-fcfs": (
        "mayfly.cli.model.policy",
        "M/G/1 levels of priority by age, first come first served in each: mean response time by size.",
    ),
    "lfq": (
        "mayfly.cli.model.lfq",
        "M/G/1 lagged fair queueing, users with transfers: response time by size, and the choice of its lag.",
    ),
    "compare": (
        "mayfly.cli.model.compare",
        "Response times of several policies on one law of sizes: table, JSON, a page with plots.",
    ),
    "wlan": (
        "mayfly.cli.model.wlan",
        "Capacity of a wireless cell: saturated stations, TCP, unequal rates, uploads against downloads.",
    ),
    "law": (
        "mayfly.cli.model.law",
        "A law of sizes: mean, CoV, quantiles, truncated moments, and the share of the mass in the largest jobs.",
    ),
    "fluid": (
        "mayfly.cli.model.fluid",
        "TCP and traffic that does not respond at one queue: equilibrium, stability, trajectory.",
    ),
    "tcp": (
        "mayfly.cli.model.tcp",
        "TCP over a path with a round-trip time and a loss: rate of long transfers, time of short ones.",
    ),
    "sampling": (
        "mayfly.cli.model.sampling",
        "Flows sampled by SIFT and X-Protect, by size, and the share of flows put on the wrong side.",
    ),
    "efd": (
        "mayfly.cli.model.efd",
        "EFD by its sub-flows: their sizes in both queues, response times of sub-flows and flows.",
    ),
    "efd-sizes": (
        "mayfly.cli.model.efd",
        "EFD for flows of all sizes: response times over a path, set-up to tear-down.",
    ),
    "gaps": ("mayfly.cli.model.efd", "Fit laws to the times between the arrivals of sub-flows."),
    "pias": ("mayfly.cli.model.pias", "Find the best demotion thresholds for given flow sizes."),
}
"""Module of each command and what ``mayfly model --help`` says of it; a test holds the text to its own."""


class Models(LazyGroup):
    """One command per policy, and those of other models."""

    table = COMMANDS


app = typer.Typer(cls=Models, help="Models: settings and means without a simulation.", rich_markup_mode=None)
app.callback()(lambda: None)


def register(root: typer.Typer) -> None:
    """Adds the group."""
    root.add_typer(app, name="model")
