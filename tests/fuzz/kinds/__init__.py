"""What is fuzzed: a generator of cases each, and a row here."""

from case import Case
from hypothesis.strategies import SearchStrategy

from kinds import captures, flow_lists, logs, samples, scenarios, stores, workloads

KINDS: dict[str, SearchStrategy[Case]] = {
    "captures": captures.cases(),
    "scenarios": scenarios.cases(),
    "settings": scenarios.settings(),
    "reloads": scenarios.reloads(),
    "flow-lists": flow_lists.cases(),
    "stores": stores.cases(),
    "samples": samples.cases(),
    "logs": logs.cases(),
    "workloads": workloads.cases(),
}
"""Strategies by name, as ``--kinds`` takes them."""
