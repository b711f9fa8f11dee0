"""A group whose name does its main work: what is no command of it is an argument of `run`."""

from typing import Any

from typer.core import TyperGroup


class RunByDefault(TyperGroup):
    """`mayfly GROUP ARGUMENT` is `mayfly GROUP run ARGUMENT`; so is `mayfly GROUP`, unless it shows its help."""

    # Any: the class of a context stands in click or in a copy of it, by the version of typer.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        of_run = args[0] not in (*self.commands, "--help", "-h") if args else not self.no_args_is_help
        return super().parse_args(ctx, ["run", *args] if of_run else args)
