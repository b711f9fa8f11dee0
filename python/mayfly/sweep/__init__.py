"""Many runs: over scenario fields, disciplines and seeds, on one machine or several, resumed where they stopped."""

from mayfly.callable_package import calls

calls(__name__, "mayfly.sweep.command", "sweep_file")
