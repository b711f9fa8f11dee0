"""What the server of the children does before it forks any: Mayfly is imported, and the models of scenarios are built.

It makes no table: polars starts its pool of threads with the first one, and a fork would copy their locks. Those
that it has from its import on tidy memory, and a child does without them.
"""

import functools
import importlib
import pkgutil

import typer.main

import mayfly
from mayfly.cli.app import app
from mayfly.profile.workload.schema import Workload
from mayfly.scenario.scenario import scenario_of
from mayfly.sweep.plan import Sweep

for module in pkgutil.walk_packages(mayfly.__path__, "mayfly."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
for name in ("plotly.graph_objects", "plotly.io", "duckdb", "rich.table", "scipy.optimize", "scipy.stats", "tomli_w"):
    importlib.import_module(name)
scenario_of({}, "warm")
for model in (Workload, Sweep):
    model.model_rebuild()
# Typer builds all commands anew for each call, which takes longer than most cases do; nothing of a call stays in them.
typer.main.get_command = functools.cache(typer.main.get_command)
typer.main.get_command(app)
