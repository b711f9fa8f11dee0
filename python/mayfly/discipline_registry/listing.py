"""The disciplines and their options for the terminal."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mayfly.discipline_registry import where_text
from mayfly.text.readable import MISSING

if TYPE_CHECKING:
    from mayfly._native import DisciplineRow

_NARROW = 76
BUFFER = "The limit of the queue, in packets or bytes, is not an option: it is network.buffer, the same for all."


class DisciplinesList:
    """The registry, grouped by family: three columns, or one below another in less than 76 columns.

    Parameters
    ----------
    specs : iterable of mapping
        Rows of the registry; those of a family follow each other.
    """

    def __init__(self, specs: Iterable[Mapping[str, Any]]):
        self.families: dict[str, list[Mapping[str, Any]]] = {}
        for spec in specs:
            self.families.setdefault(spec["family"], []).append(spec)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render as wide as there is room."""
        if options.max_width >= _NARROW:
            yield self._table()
        else:
            for name, specs in self.families.items():
                yield Text(f"{name}\n", style="bold")
                for spec in specs:
                    yield Text(spec["id"], style="bold")
                    yield Padding(Group(_about(spec), _options(spec)), (0, 0, 1, 2))
        yield Text(f"\n{BUFFER}\n`mayfly disciplines ID` says what each option means.", style="dim")

    def _table(self) -> Table:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
        table.add_column("id", style="bold", no_wrap=True)
        table.add_column("description", overflow="fold", ratio=3)
        table.add_column("options (default; bounds)", overflow="fold", ratio=2)
        for name, specs in self.families.items():
            # In the widest column: a long name must not widen that of the ids.
            table.add_row("", Text(f"── {name} ──", style="bold"), "")
            for spec in specs:
                table.add_row(Text(spec["id"]), _about(spec), _options(spec), end_section=True)
        return table


def _about(spec: Mapping[str, Any]) -> Text:
    about = Text(spec["about"])
    for lead, name in (("", "source"), ("when full: drops ", "when_full")):
        if spec.get(name):
            about.append(f"\n{lead}{spec[name]}", style="dim")
    if "runs_on" in spec:
        about.append(f"\nruns {where_text(cast('DisciplineRow', spec))}", style="dim")
    return about


def _options(spec: Mapping[str, Any]) -> Text:
    return Text("\n".join(option_text(param) for param in spec.get("params", ())) or MISSING)


def discipline_detail(spec: Mapping[str, Any]) -> Table:
    """Show one discipline: what it does, where it comes from, what it drops, each option with its meaning.

    Parameters
    ----------
    spec : mapping
        Row of the registry.

    Returns
    -------
    rich.table.Table
        Two columns.
    """
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    facts = {
        spec["id"]: spec["about"],
        "family": spec["family"],
        "source": spec["source"],
        "buffer": "network.buffer, in packets or bytes",
        "when full": f"drops {spec['when_full']}" if spec["when_full"] else "",
        "runs": where_text(cast("DisciplineRow", spec)) if "runs_on" in spec else "",
        "flow order": "kept" if spec["keeps_flow_order"] else "not kept: packets of one flow may overtake each other",
        "time": "may hold packets while the link idles" if spec["time_driven"] else "never idles while packets wait",
    }
    for name, text in facts.items():
        if text:
            grid.add_row(name, Text(text))
    for at, param in enumerate(spec["params"]):
        grid.add_row("options" if at == 0 else "", Text(option_text(param)))
        grid.add_row("", Padding(Text(param["about"], style="dim"), (0, 0, 0, 2)))
    grid.add_row("try", Text(f'mayfly compare wired --disciplines "fifo,{example(spec)}"'))
    return grid


def example(spec: Mapping[str, Any]) -> str:
    """Write a discipline with its first option, as a list takes it.

    Examples
    --------
    >>> example({"id": "las", "params": [{"name": "visit", "unit": "s", "default": 5.0, "min": 0.0, "max": 9.0}]})
    'las(visit=5s)'
    """
    if not spec["params"]:
        return str(spec["id"])
    param = spec["params"][0]
    value = param["choices"][-1] if "choices" in param else _default(param)
    return f"{spec['id']}({param['name']}={value})"


def option_text(param: Mapping[str, Any]) -> str:
    """Write an option with its default, unit and bounds on one line.

    Parameters
    ----------
    param : mapping
        ``name``, ``unit``, ``default`` and either ``choices`` or ``min`` and ``max``, with ``most`` for a list.

    Returns
    -------
    str

    Examples
    --------
    >>> option_text({"name": "high", "unit": "", "default": "fifo", "choices": ["fifo", "las"]})
    'high = fifo|las (fifo)'
    >>> option_text({"name": "threshold", "unit": "bytes", "default": 30000.0, "min": 1.0, "max": 1e12})
    'threshold (30000 bytes; 1 to 10^12)'
    >>> option_text({"name": "levels", "unit": "bytes", "default": [1e4, 1e5], "min": 1.0, "max": 1e9, "most": 7})
    'levels (10000:100000 bytes; up to 7 from 1 to 10^9, ascending)'
    >>> option_text({"name": "target", "unit": "s", "default": 0.005, "min": 1e-6, "max": 1000.0})
    'target (5ms; 1us to 1000s)'
    """
    if choices := param.get("choices"):
        return f"{param['name']} = {'|'.join(choices)} ({param.get('default', choices[0])})"
    in_seconds = param["unit"] == "s"
    unit = "" if in_seconds or not param["unit"] else f" {param['unit']}"
    low, high = (_seconds(param[end]) if in_seconds else number_text(param[end]) for end in ("min", "max"))
    bounds = f"{low} to {high}"
    if "most" in param:
        bounds = f"up to {param['most']} from {bounds}, ascending"
    return f"{param['name']} ({_default(param)}{unit}; {bounds})"


def _default(param: Mapping[str, Any]) -> str:
    default = param["default"]
    values: Iterable[float] = default if isinstance(default, list) else [default]
    return ":".join(_seconds(value) if param["unit"] == "s" else f"{value:.15g}" for value in values)


def _seconds(value: float) -> str:
    """Write a time with the suffix an option takes."""
    for factor, suffix in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if value == 0 or value * factor >= 1:
            return f"{number_text(round(value * factor, 9))}{suffix}"
    return f"{value:.15g}s"


def number_text(value: float) -> str:
    """Write a bound: powers of ten that are long in digits as such.

    Examples
    --------
    >>> number_text(1e12), number_text(30000), number_text(0.001), number_text(2**32), number_text(1e-6)
    ('10^12', '30000', '0.001', '4294967296', '10^-6')
    """
    mantissa, _, exponent = f"{value:.15e}".partition("e")
    if not -4 < int(exponent) < 6 and float(mantissa) == 1:
        return f"10^{int(exponent)}"
    return f"{value:.15g}"
