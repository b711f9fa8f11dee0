"""What is made of the types of ``summary.json`` in Rust (crate ``summary``): ``python docs/_ext/summary_types.py``.

It writes the types of Python (``python/mayfly/summary_types.py``) and those of the page of ``mayfly explore``
(``explore/src/engine/outcome_types.ts``). :func:`markdown` gives the tables of docs/tables.md.
"""

import json
import keyword
import re
import textwrap
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar

from reference_tables import table

from mayfly import _native

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "python" / "mayfly" / "summary_types.py"
TYPESCRIPT = ROOT / "explore" / "src" / "engine" / "outcome_types.ts"

PARTS = ("DisciplineRow",)
"""Definitions of which Python has a second type, whose keys may all be absent: a section of a comparison adds some."""

UNITS = {
    "seconds": "s",
    "milliseconds": "ms",
    "Mbit/s": "Mbit/s",
    "bit/s": "bit/s",
    "bytes": "bytes",
    "kB": "kB",
    "packets": "packets",
    "frames": "frames",
}
"""How the tables write the words with which the first sentence of a doc comment may end."""

NULLABLE = "x-nullable"
"""Word of a schema: a key that may be absent may be null, too."""

Definitions = Mapping[str, Any]


def definitions() -> tuple[Definitions, Definitions]:
    """Read the definitions of the summary and those of the page's outcomes, by name, from the native module."""
    summary, outcome = json.loads(_native.summary_schema())
    return summary, outcome


def meaning(schema: Mapping[str, Any]) -> str:
    r"""The doc comment as text of one line.

    Examples
    --------
    >>> meaning({"description": "Of the\nlargest; `None` without [`crate::Bin`]."})
    'Of the largest; null without `Bin`.'
    """
    text = " ".join(schema.get("description", "").split())
    text = re.sub(r"\[`(?:\w+::)*(\w+)(?:\(\))?`\](?:\([\w:]+\))?", r"`\1`", text)
    return text.replace("`None`", "null")


def in_code(schema: Mapping[str, Any]) -> str:
    """The same for a comment, where a link is the file of its page.

    Examples
    --------
    >>> in_code({"description": "Hours ([](recommendation.md#intervals))."})
    'Hours (docs/recommendation.md).'
    """
    return re.sub(r"\[\]\(([\w/-]+\.md)(?:#[\w-]+)?\)", r"docs/\1", meaning(schema))


def with_unit(text: str) -> tuple[str, str]:
    """Take the unit from the end of the first sentence, or of its first clause.

    Examples
    --------
    >>> with_unit("Mean rate, bit/s; null without any. More.")
    ('bit/s', 'Mean rate; null without any. More.')
    >>> with_unit("How many.")
    ('', 'How many.')
    """
    words = "|".join(map(re.escape, UNITS))
    found = re.search(rf", ({words})(?=[.;:,]|$)", text)
    return (UNITS[found[1]], text[: found.start()] + text[found.end() :]) if found else ("", text)


def is_number(schema: Any) -> bool:
    """Whether a key is a number, or null."""
    return schema is not True and bool({"number", "integer"} & set(_kinds(schema)))


def _is_null(schema: Any) -> bool:
    return schema.get("type") == "null"


def _reference(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"]).removeprefix("#/$defs/")


def _words(schema: Mapping[str, Any]) -> list[str] | None:
    """The words of an enumeration."""
    choices = schema.get("oneOf", ())
    if choices and all("const" in choice for choice in choices):
        return [choice["const"] for choice in choices]
    return list(schema["enum"]) if "enum" in schema else None


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    kinds = schema.get("type", [])
    return kinds if isinstance(kinds, list) else [kinds]


def _is_optional(definition: Mapping[str, Any], key: str) -> bool:
    return key not in definition.get("required", ())


class Python:
    """Types of Python."""

    NAMES: ClassVar = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}

    def of(self, schema: Any) -> str:
        """The type of a schema."""
        if schema is True or not (schema.keys() - {"description", NULLABLE}):
            return "Any"
        if "$ref" in schema:
            return _reference(schema)
        if words := _words(schema):
            return f"Literal[{', '.join(json.dumps(word) for word in words)}]"
        if "anyOf" in schema:
            return " | ".join(self.of(choice) for choice in schema["anyOf"])
        return " | ".join(self._plain(kind, schema) for kind in _kinds(schema))

    def _plain(self, kind: str, schema: Mapping[str, Any]) -> str:
        if kind == "array":
            if "prefixItems" in schema:
                return f"tuple[{', '.join(self.of(item) for item in schema['prefixItems'])}]"
            return f"list[{self.of(schema['items'])}]"
        if kind == "object":
            return f"dict[str, {self.of(schema.get('additionalProperties', True))}]"
        return self.NAMES[kind]

    def module(self, found: Definitions) -> str:
        """The module."""
        head = (
            '"""Types of ``summary.json``, made by `make types` from crate ``summary``; docs/tables.md shows them.\n\n'
            "A pair is a list in JSON. Import this under ``TYPE_CHECKING``: it has nothing to run.\n"
            '"""\n\n'
            "from __future__ import annotations\n\n"
            "from typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n"
        )
        aliases, classes = [], []
        for name, definition in found.items():
            if "properties" in definition:
                classes.append(self._class(name, definition))
                if name in PARTS:
                    classes.append(self._class(f"{name}Part", definition, total=False))
            else:
                aliases.append(f"{name}: TypeAlias = {self.of(definition)}\n{_quoted(in_code(definition))}")
        return "\n".join([head, "\n\n".join(aliases)]) + "\n\n\n" + "\n\n\n".join(classes) + "\n"

    def _class(self, name: str, definition: Mapping[str, Any], total: bool = True) -> str:
        if any(map(keyword.iskeyword, definition["properties"])):
            return self._call(name, definition)
        text = in_code(definition) if total else f"Some keys of :class:`{name.removesuffix('Part')}`."
        lines = [f"class {name}(TypedDict{'' if total else ', total=False'}):", _quoted(text, 4), ""]
        for key, schema in definition["properties"].items():
            kind = self.of(schema)
            lines.append(f"    {key}: {f'NotRequired[{kind}]' if total and _is_optional(definition, key) else kind}")
            if total:
                lines.append(_quoted(in_code(schema), 4))
        return "\n".join(lines)

    def _call(self, name: str, definition: Mapping[str, Any]) -> str:
        """The same where a key is a word of Python."""
        lines = [f"{name} = TypedDict(", f'    "{name}",', "    {"]
        for key, schema in definition["properties"].items():
            kind = self.of(schema)
            kind = f'NotRequired["{kind}"]' if _is_optional(definition, key) else json.dumps(kind)
            lines += [f"        # {line}" for line in textwrap.wrap(in_code(schema), 120 - 10)]
            lines.append(f'        "{key}": {kind},')
        return "\n".join([*lines, "    },", ")", _quoted(in_code(definition))])


def _quoted(text: str, indent: int = 0) -> str:
    """A docstring, in as few lines as it takes."""
    margin = " " * indent
    if len(margin) + len(text) + 6 <= 120 and '"' not in text[-1:]:
        return f'{margin}"""{text}"""'
    # Links to pages of the documentation are words, and the first sentence stands alone.
    first, _, rest = text.partition(". ")
    if not rest or len(first) + indent + 4 > 120:
        body = textwrap.wrap(text, 120 - indent - 6, break_long_words=False, break_on_hyphens=False)
        return f'{margin}"""{body[0]}\n' + "\n".join(f"{margin}{line}" for line in body[1:]) + f'\n{margin}"""'
    wrapped = textwrap.wrap(rest, 120 - indent, break_long_words=False, break_on_hyphens=False)
    return f'{margin}"""{first}.\n\n' + "\n".join(f"{margin}{line}" for line in wrapped) + f'\n{margin}"""'


class TypeScript:
    """Types of TypeScript."""

    NAMES: ClassVar = {
        "integer": "number",
        "number": "number",
        "string": "string",
        "boolean": "boolean",
        "null": "null",
    }

    def of(self, schema: Any) -> str:
        """The type of a schema."""
        if schema is True or not (schema.keys() - {"description", NULLABLE}):
            return "unknown"
        if "$ref" in schema:
            return _reference(schema)
        if words := _words(schema):
            return " | ".join(json.dumps(word) for word in words)
        if "anyOf" in schema:
            return " | ".join(self.of(choice) for choice in schema["anyOf"])
        return " | ".join(self._plain(kind, schema) for kind in _kinds(schema))

    def _plain(self, kind: str, schema: Mapping[str, Any]) -> str:
        if kind == "array":
            if "prefixItems" in schema:
                return f"[{', '.join(self.of(item) for item in schema['prefixItems'])}]"
            item = self.of(schema["items"])
            if schema.get("minItems") == schema.get("maxItems") == 2:
                return f"[{item}, {item}]"
            return f"({item})[]" if " " in item else f"{item}[]"
        if kind == "object":
            return f"Record<string, {self.of(schema.get('additionalProperties', True))}>"
        return self.NAMES[kind]

    def module(self, found: Definitions) -> str:
        """The module."""
        parts = ["/** What an engine answers: made by `make types` from `crates/explore` and `crates/metrics`. */"]
        for name, definition in found.items():
            head = _comment(in_code(definition))
            if "properties" not in definition:
                parts.append(f"{head}export type {name} = {self.of(definition)};")
                continue
            lines = [f"{head}export interface {name} {{"]
            for key, schema in definition["properties"].items():
                lines.append(_comment(in_code(schema), "  ") + self._member(definition, key, schema))
            parts.append("\n".join([*lines, "}"]))
        return "\n\n".join(parts) + "\n"

    def _member(self, definition: Mapping[str, Any], key: str, schema: Any) -> str:
        if not _is_optional(definition, key):
            return f"  {key}: {self.of(schema)};"
        # A key that may be absent is not null where it is there.
        kind = self.of(schema).removesuffix(" | null")
        return f"  {key}?: {kind};"


def _comment(text: str, margin: str = "") -> str:
    return f"{margin}/** {text} */\n" if text else ""


def _reached(name: str, found: Definitions, elsewhere: Collection[str] = ()) -> list[str]:
    """A definition and those it needs, in the order of declaration, without some and what only these need."""
    seen = set()

    def walk(own: str) -> None:
        seen.add(own)
        for needed in re.findall(r'"#/\$defs/(\w+)"', json.dumps(found[own])):
            if needed not in seen and needed not in elsewhere:
                walk(needed)

    walk(name)
    return [own for own in found if own in seen]


def markdown(name: str, without: tuple[str, ...] = ()) -> str:
    """Tables of an object and of those inside it.

    Parameters
    ----------
    name : str
        Of the definition.
    without : tuple of str
        Definitions that have their tables in another place.

    Returns
    -------
    str
        Markdown: a paragraph and a table for each, with a label ``summary-NAME`` before it.
    """
    found = definitions()[0]
    parts = []
    for own in _reached(name, found, without):
        definition = found[own]
        if "properties" not in definition:
            continue
        rows = [_row(key, schema, definition, found) for key, schema in definition["properties"].items()]
        text = f"({label(own)})=\n\n**{own}**: {meaning(definition)}"
        parts.append(f"{text}\n\n{table(('key', 'type', 'unit', 'meaning'), rows)}")
    return "\n\n".join(parts)


def label(name: str) -> str:
    """Where the table of an object is."""
    return f"summary-{name.lower()}"


def _row(key: str, schema: Any, definition: Mapping[str, Any], found: Definitions) -> tuple[str, ...]:
    unit, text = with_unit(meaning(schema))
    kind = _shown(schema, found)
    return f"`{key}`{'?' if _is_optional(definition, key) else ''}", kind, unit, text


def _shown(schema: Any, found: Definitions) -> str:
    """The type of a schema in a table; ``?`` stands for null."""
    if schema is True:
        return "any"
    if "$ref" in schema:
        name = _reference(schema)
        return f"[{name}](#{label(name)})" if "properties" in found[name] else _shown(found[name], found)
    if words := _words(schema):
        return ", ".join(f"`{word}`" for word in words)
    if "anyOf" in schema:
        choices = [choice for choice in schema["anyOf"] if not _is_null(choice)]
        null = "?" if len(choices) < len(schema["anyOf"]) else ""
        return " or ".join(_shown(choice, found) for choice in choices) + null
    kinds = [kind for kind in _kinds(schema) if kind != "null"]
    return " or ".join(_shown_plain(kind, schema, found) for kind in kinds) + ("?" if "null" in _kinds(schema) else "")


def _shown_plain(kind: str, schema: Mapping[str, Any], found: Definitions) -> str:
    names = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}
    if kind == "array":
        if "prefixItems" in schema:
            return "list of " + " and ".join(_shown(item, found) for item in schema["prefixItems"])
        many = "two of " if schema.get("maxItems") == 2 else "list of "
        return many + _shown(schema["items"], found)
    if kind == "object":
        others = schema.get("additionalProperties", True)
        return "object" if others is True else f"object of {_shown(others, found)}"
    return names[kind]


def written() -> dict[Path, str]:
    """Text of each file that is made."""
    summary, outcome = definitions()
    return {PYTHON: Python().module(summary), TYPESCRIPT: TypeScript().module(outcome)}


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
