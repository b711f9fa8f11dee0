"""Groups of commands of which the chosen one alone is imported and built.

Importing and building all of Mayfly's commands takes as long as a short run. A group knows of each command its module
and what the list of ``--help`` says of it; a test holds that to be what the command says itself.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

Table = Mapping[str, tuple[str, str | None]]
"""Module of each command and the first paragraph of its help, by its name.

The module has ``register(app)``, or what follows a colon in place of ``register``. Without a module the command is
registered with the group itself, and stands in the table for its place. Without help it is built to be listed.
"""


class Commands(MutableMapping[str, Any]):
    """Commands by name, in the order of the table; each is built when it is first asked for.

    Parameters
    ----------
    table : mapping
        Those that are built later.
    built : mapping
        Those that are built already, after them.
    """

    def __init__(self, table: Table, built: Mapping[str, Any]):
        self._table = table
        self._built = dict(built)

    def __getitem__(self, name: str) -> Any:
        if name not in self._built and name in self._table:
            self._built[name] = _built_of(self._table[name][0], name)
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        del self._built[name]

    def __contains__(self, name: object) -> bool:
        return name in self._table or name in self._built

    def __iter__(self) -> Iterator[str]:
        yield from self._table
        yield from (name for name in self._built if name not in self._table)

    def __len__(self) -> int:
        return len(self._table.keys() | self._built.keys())

    def told(self) -> dict[str, Any]:
        """Commands that say what the list of commands says of them, and do nothing."""
        helps = {name: self._table[name][1] if name in self._table else None for name in self}
        return {name: self[name] if text is None else TyperCommand(name, help=text) for name, text in helps.items()}


def _built_of(target: str, name: str) -> Any:
    """The command of a module, as typer makes it; of a module of several, no other is built."""
    module, _, function = target.partition(":")
    root = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    # With a callback there is a group, however many commands it has.
    root.callback()(_nothing)
    getattr(import_module(module), function or "register")(root)
    root.registered_commands = [one for one in root.registered_commands if _name_of(one) == name]
    command = typer.main.get_group(root).commands[name]
    _lighten(command)
    return command


def _name_of(command: Any) -> str:
    return command.name or str(typer.main.get_command_name(command.callback.__name__))


def _nothing() -> None:
    pass


class LazyGroup(TyperGroup):
    """A group of typer whose commands are in :attr:`table`."""

    table: ClassVar[Table] = {}
    """The commands; those that are registered with the group itself come after them."""

    def __init__(self, *, commands: Any = None, **attributes: Any):
        super().__init__(commands=commands, **attributes)
        _lighten(self)
        self.commands = Commands(self.rows(), self.commands)

    def rows(self) -> Table:
        """The table, with what an installation adds to it."""
        return self.table

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands, of which none is built for it."""
        return list(self.commands)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of ``--help``, for which no command is built."""
        commands = self.commands
        assert isinstance(commands, Commands)
        TyperGroup(name=self.name, commands=commands.told(), rich_markup_mode=None).format_commands(ctx, formatter)


_WHOLE = re.compile(r"-?[0-9]{1,15}")
_DECIMAL = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")
_UNCHANGED = object()


def _lighten(command: Any) -> None:
    """Lets the command take text, paths and plain numbers as they are.

    Newer typer builds an adapter of pydantic for every value, which takes longer to import than the command itself.
    What is none of these, or is refused, goes the way of typer, with its message.
    """
    commands = getattr(command, "commands", {})
    for below in () if isinstance(commands, Commands) else commands.values():
        _lighten(below)
    asks_help = command.get_help_option

    def light_help_option(ctx: Any) -> Any:
        param = asks_help(ctx)
        if param is not None and "process_value" not in vars(param):
            _lighten_params([param])
        return param

    command.get_help_option = light_help_option
    _lighten_params(command.params)


def _lighten_params(params: Iterable[Any]) -> None:
    for param in params:
        # Older typer has no such descriptor, and no need of pydantic.
        described: Any = getattr(param, "type_descriptor", None)
        info = getattr(described, "parameter_info", None)
        if info is None or info.parser is not None or info.min is not None or info.max is not None:
            continue
        take = _TAKE.get(described.annotation)
        several = take is None and getattr(described.annotation, "__origin__", None) is list
        if several:
            take = _TAKE.get(described.annotation.__args__[0])
        if take is not None:
            param.process_value = _process(param, param.process_value, take, several)


def _process(
    param: Any, usual: Callable[[Any, Any], Any], take: Callable[[Any], Any], several: bool
) -> Callable[[Any, Any], Any]:
    def process(ctx: Any, value: Any) -> Any:
        taken: Any = _UNCHANGED
        if param.required and not value:
            pass
        elif value is None:
            taken = () if several else None
        elif not several:
            taken = take(value)
        elif not isinstance(value, str):
            each = [take(one) for one in value]
            taken = _UNCHANGED if _UNCHANGED in each else each
        if taken is _UNCHANGED:
            return usual(ctx, value)
        return taken if param.callback is None else param.callback(ctx, param, taken)

    return process


def _text(value: Any) -> Any:
    return value if type(value) is str else _UNCHANGED


def _flag(value: Any) -> Any:
    return value if type(value) is bool else _UNCHANGED


def _path(value: Any) -> Any:
    if not isinstance(value, str | Path) or (os.path.exists(value) and not os.access(value, os.R_OK)):
        return _UNCHANGED
    return Path(value)


def _whole(value: Any) -> Any:
    if type(value) is int:
        return value
    return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else _UNCHANGED


def _number(value: Any) -> Any:
    if type(value) is float:
        return value
    return float(value) if isinstance(value, str) and _DECIMAL.fullmatch(value) else _UNCHANGED


_TAKE: dict[Any, Callable[[Any], Any]] = {bool: _flag, str: _text, Path: _path, int: _whole, float: _number}
