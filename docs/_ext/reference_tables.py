"""Markdown tables of the disciplines, the scenario fields and the commands, read from the package itself.

Nothing is listed here by hand: a discipline, field or option that is added appears, one that goes disappears.
"""

import typing
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mayfly import fields
from mayfly.discipline_registry import by_family, slug, where_text
from mayfly.estimate.estimate import doubts, methods, parameters
from mayfly.laws.registry import LAWS
from mayfly.laws.section import Sizes
from mayfly.laws.service_spec import NAMES, OTHERS
from mayfly.scenario import scenario
from mayfly.scenario.attacks import ATTACKS
from mayfly.workload.formats.registry import rows as formats

_KINDS = {
    fields.Rate: "rate: bit/s, or `10mbit`",
    fields.Seconds: "time: s, or `200ms`",
    fields.Delay: "time: s, or `200ms`",
    fields.Buffer: "packets, or bytes: `450kB`",
    fields.Bytes: "bytes: `2346`, or `64kB`",
    fields.Loss: "0 or more, below 1",
}
_PLAIN = {bool: "`true` or `false`", str: "text", float: "number", int: "whole number"}


LIVE = "workload=attack&rate=10mbit&buffer=300&rtt=20ms&d=fifo&d=fq_codel&d=cake&d=lfq"
"""State of the page with the link of `mayfly gaming`, for an attacker to join."""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay out a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(_escaped, line)) + " |" for line in lines)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("*", "\\*")


def number(value: float) -> str:
    """Write a number without needless digits."""
    return str(int(value)) if value == int(value) else f"{value:.15g}"


def disciplines() -> str:
    """List the disciplines of the registry, a table per family, each linked to its page."""
    header = ("id", "what it does", "options", "goes when the buffer is full", "keeps flow order", "runs", "source")
    parts = []
    for family, members in by_family().items():
        rows = (
            (
                f"[`{row['id']}`](disciplines/{row['id']}.md)",
                row["about"],
                ", ".join(f"`{param['name']}`" for param in row["params"]) or "none",
                row["when_full"],
                "yes" if row["keeps_flow_order"] else "no",
                where_text(row),
                row["source"],
            )
            for row in members
        )
        parts.append(f"**{family}**: `--disciplines {slug(family)}`\n\n{table(header, rows)}")
    return "\n\n".join(parts)


def options() -> str:
    """List the options of each discipline."""
    rows = (
        (f"`{row['id']}`", f"`{param['name']}`", param["unit"], _default(param), _bounds(param), param["about"])
        for members in by_family().values()
        for row in members
        for param in row["params"]
    )
    return table(("discipline", "option", "unit", "default", "bounds", "meaning"), rows)


def _default(param: dict) -> str:
    default = param["default"]
    if isinstance(default, list):
        return f"`{':'.join(map(number, default))}`"
    return f"`{default}`" if isinstance(default, str) else f"`{number(default)}`"


def _bounds(param: dict) -> str:
    if "choices" in param:
        return ", ".join(f"`{word}`" for word in param["choices"])
    bounds = f"{number(param['min'])} to {number(param['max'])}"
    return f"up to {param['most']} ascending, {bounds}" if "most" in param else bounds


def attacks() -> str:
    """List the attacks of the registry: what each does, what it turns up, and where it runs."""
    rows = []
    for row in ATTACKS:
        name, strength = ".".join(filter(None, ("workload", row.source, row.strength.field))), row.strength
        live = f"{{explore}}`live <{LIVE}&attack={row.id},5mbit,8>`"
        homes = {"`mayfly gaming`": row.cases, "`mayfly arena`": row.board, live: row.page}
        runs_in = ", ".join(home for home, there in homes.items() if there is not None)
        bounds = f"`{name}`: {strength.least:,} to {strength.most:,} {strength.unit}"
        rows.append((f"`{row.id}`", row.summary, row.aims_at, bounds, runs_in))
    return table(("attack", "what it does", "aimed at", "strength", "runs in"), rows)


def laws() -> str:
    """List the size laws of the registry, with what each is described by."""
    rows = (
        (
            f"`{law.id}`",
            law.title,
            "; or ".join(law.described_by),
            ", ".join(f"`{p.name}` {p.bounds()}" for p in law.parameters) or "none",
            law.source or "",
        )
        for law in LAWS.values()
    )
    return table(("law", "what", "give", "bounds", "source"), rows)


def service_laws() -> str:
    """List the laws of sizes of the models, with what each is described by."""
    rows = [
        (f"`{law.id}`", law.title, "; or ".join(law.described_by))
        for law in LAWS.values()
        if law.id not in ("constant", "empirical")
    ]
    rows += [(f"`{name}`", _OTHER_LAWS[name], what) for name, what in OTHERS.items()]
    other = ", ".join(f"`{name}` for `{law}`" for name, law in NAMES.items())
    return table(("law", "what", "give"), rows) + f"\n\nOther names: {other}."


_OTHER_LAWS = {"deterministic": "all sizes equal", "sample": "measured"}


def policies() -> str:
    """List the policies of the registry of models."""
    from mayfly.models.queue.policies import POLICIES

    rows = (
        (
            f"`{row.id}`",
            row.title,
            "; ".join(f"`{p.name}`: {p.about}" for p in row.parameters) or "none",
            f"[`{row.discipline}`](../disciplines/{row.discipline}.md)" if row.discipline else "",
            row.source,
        )
        for row in POLICIES.values()
    )
    return table(("policy", "what it does", "parameters", "discipline", "source"), rows)


def model_pages(folder: Path = Path(__file__).parents[1] / "models") -> str:
    """List the pages of models, each with its first sentence."""
    rows = []
    for page in sorted(folder.glob("*.md")):
        if page.stem != "index":
            text = page.read_text(encoding="utf-8")
            first = next(part for part in text.split("\n\n")[1:] if part[:1].isalnum() or part[:1] in "`*")
            sentence = " ".join(first.replace("*", "").split()).partition(". ")[0].rstrip(".:")
            rows.append((f"[]({page.name})", sentence))
    return table(("page", "what"), rows)


def sources() -> str:
    """List the sources of a scenario: the transfers, and what has a section below `[workload]`."""
    found = [
        (header, model)
        for header, model in sections(scenario.Workload, "workload", "[workload]")
        if model is not Sizes and header
    ]
    rows = ((f"`{header}`", (model.__doc__ or "").strip().partition("\n")[0]) for header, model in found)
    return table(("section", "what"), rows)


def flow_formats() -> str:
    """List the formats of flow lists."""
    header = ("id", "what it is", "read", "written by the endings", "holds", "defined by")
    rows = (
        (
            f"`{row['id']}`",
            row["title"],
            "yes" if row["read"] else "no",
            " ".join(f"`{end}`" for end in row["suffixes"]) or "`--to` only" if row["write"] else "no",
            row["holds"],
            row["source"],
        )
        for row in formats()
    )
    return table(header, rows)


def sections(
    model: type[BaseModel] = scenario.Scenario, name: str = "", header: str = ""
) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield TOML header and model of every section of a scenario file; the file itself comes first, without header."""
    yield header, model
    for part, field in model.model_fields.items():
        section = _section_of(field)
        if section is not None:
            dotted = f"{name}.{part}" if name else part
            yield from sections(section, dotted, _header(dotted, typing.get_origin(field.annotation)))


def _header(dotted: str, kind: object) -> str:
    """Write the header of a section, one of a list of sections, or one with a name of its own."""
    if kind is dict:
        return f"[{dotted}.NAME]"
    return f"[[{dotted}]]" if kind is tuple else f"[{dotted}]"


def _section_of(field: FieldInfo) -> type[BaseModel] | None:
    """Find the model of a section, or of each entry of a list of sections."""
    candidates = [field.annotation, *typing.get_args(field.annotation)]
    return next((found for kind in candidates if (found := fields.section_of(kind)) is not None), None)


def _is_row(field: FieldInfo) -> bool:
    """Whether a field stands in the table of its section: no section itself, or one that may be absent or is named."""
    may_be_absent = type(None) in typing.get_args(field.annotation)
    return _section_of(field) is None or may_be_absent or typing.get_origin(field.annotation) is dict


def scenario_fields() -> str:
    """List the fields, one table per section of the scenario file."""
    parts = []
    for header, model in sections():
        title = f"**`{header}`**" if header else "**Top level**"
        about = (model.__doc__ or "").strip().partition("\n")[0]
        if heirs := [name for name, other in sections() if model in other.__mro__[1:]]:
            parts.append(f"{title}: {about} Fields as in `{heirs[0]}`.")
            continue
        fields = [(field, info) for field, info in model.model_fields.items() if _is_row(info)]
        hints = typing.get_type_hints(model, include_extras=True)
        rows = (
            (f"`{info.alias or field}`", value_of(hints[field], info), default_of(info), info.description or "")
            for field, info in fields
        )
        parts.append(f"{title}: {about}\n\n{table(('field', 'value', 'default', 'meaning'), rows)}")
    return "\n\n".join(parts)


def value_of(hint: object, info: FieldInfo) -> str:
    """Say what a field takes: unit and notation, words, or bounds."""
    if _section_of(info) is not None:
        return "table"
    for kind in (hint, *typing.get_args(hint)):
        for alias, words in _KINDS.items():
            if kind == alias:
                return words
    if typing.get_origin(info.annotation) is dict:
        return "table of " + " or ".join(f"`{word}`" for word in typing.get_args(typing.get_args(info.annotation)[1]))
    for kind in (info.annotation, *typing.get_args(info.annotation)):
        if typing.get_origin(kind) is typing.Literal:
            return " or ".join(f"`{word}`" for word in typing.get_args(kind))
    if typing.get_origin(info.annotation) is tuple:
        return "list of numbers" if "float" in str(info.annotation) else "list of text"
    kinds = (getattr(kind, "__origin__", kind) for kind in (info.annotation, *typing.get_args(info.annotation)))
    plain = next(kind for kind in kinds if kind in _PLAIN)
    low = next((m.ge for m in info.metadata if hasattr(m, "ge")), None)
    high = next((m.le for m in info.metadata if hasattr(m, "le")), None)
    return _PLAIN[plain] + (f", {number(low)} to {number(high)}" if low is not None and high is not None else "")


def default_of(info: FieldInfo) -> str:
    """Write the default of a field as TOML does."""
    if info.is_required():
        return "required"
    if info.default is None or info.default_factory is not None:
        return "none"
    if isinstance(info.default, bool):
        return f"`{str(info.default).lower()}`"
    if isinstance(info.default, tuple):
        return "`[" + ", ".join(f'"{word}"' for word in info.default) + "]`"
    return f"`{info.default}`" if info.default != "" else "empty"


def commands() -> str:
    """List arguments and options, one table per command of `mayfly`."""
    import typer

    from mayfly.cli.app import app

    parts = []
    for name, command in _named(typer.main.get_command(app)):
        rows = ((_usage(param), getattr(param, "help", None) or "") for param in command.params)
        about = (command.help or "").strip().partition("\n")[0]
        parts.append(f"**`mayfly {name}`**: {about}\n\n{table(('argument or option', 'meaning'), rows)}")
    return "\n\n".join(parts)


def _named(group: typing.Any) -> Iterator[tuple[str, typing.Any]]:
    """Yield every command with its name; those of a group have two words."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from ((f"{name} {inner}", of_group) for inner, of_group in _named(command))
        else:
            yield name, command


def _usage(param: typing.Any) -> str:
    needed = ", required" if param.required else ""
    if param.param_type_name == "argument":
        return f"`{param.name.upper()}`{needed}"
    many = ", repeatable" if getattr(param, "multiple", False) else ""
    return ", ".join(f"`{flag}`" for flag in reversed(param.opts)) + needed + many


def estimator_methods() -> str:
    """List the methods of the estimator of traffic that does not respond."""
    rows = ((f"`{row['id']}`", row["about"], row["source"]) for row in methods())
    return table(("method", "what it does", "source"), rows)


def estimator_parameters() -> str:
    """List the parameters of the estimator, with defaults and bounds."""
    rows = (
        (
            f"`{row['name']}`",
            row["about"],
            number(row["default"]),
            f"{number(row['min'])} to {number(row['max'])}",
            row["unit"],
        )
        for row in parameters()
    )
    return table(("parameter", "meaning", "default", "bounds", "unit"), rows)


def estimator_doubts() -> str:
    """List why an estimate may not be relied on."""
    return table(("doubt", "meaning"), ((f"`{word}`", meaning) for word, meaning in doubts().items()))
