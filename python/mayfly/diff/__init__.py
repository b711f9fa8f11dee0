"""Two runs or two captures beside each other: what changed beyond chance."""

from mayfly.callable_package import calls

calls(__name__, "mayfly.diff.answer", "diff")
