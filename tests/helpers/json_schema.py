"""Faults of a value by its JSON Schema, as far as `summary.schema` uses the words of JSON Schema."""

from collections.abc import Iterator, Mapping
from typing import Any

KNOWN = {
    *("$ref", "additionalProperties", "anyOf", "const", "description", "format", "items", "maxItems", "maximum"),
    *("minItems", "minimum", "oneOf", "prefixItems", "properties", "required", "type", "x-nullable"),
}
TYPES = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def faults(value: Any, name: str, definitions: Mapping[str, Any]) -> list[str]:
    """What is wrong with a value that should be of one definition, a line each."""
    return list(_faults(value, {"$ref": f"#/$defs/{name}"}, definitions, "$"))


def _faults(value: Any, schema: Any, definitions: Mapping[str, Any], at: str) -> Iterator[str]:
    if schema is True:
        return
    assert schema.keys() <= KNOWN, f"{at}: {schema.keys() - KNOWN} not known here"
    if "$ref" in schema:
        yield from _faults(value, definitions[schema["$ref"].removeprefix("#/$defs/")], definitions, at)
    for word in ("anyOf", "oneOf"):
        choices = schema.get(word, ())
        found = [list(_faults(value, choice, definitions, at)) for choice in choices]
        if choices and all(found):
            yield from min(found, key=len)
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r} must be {schema['const']!r}"
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(TYPES[kind](value) for kind in kinds):
            yield f"{at}: {value!r} must be {' or '.join(kinds)}"
    if isinstance(value, dict):
        yield from _object_faults(value, schema, definitions, at)
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{at}: {len(value)} items must be {schema['minItems']}"
        if "prefixItems" in schema:
            for number, (item, own) in enumerate(zip(value, schema["prefixItems"], strict=True)):
                yield from _faults(item, own, definitions, f"{at}[{number}]")
        for number, item in enumerate(value if "items" in schema else ()):
            yield from _faults(item, schema["items"], definitions, f"{at}[{number}]")
    elif isinstance(value, int | float) and value < schema.get("minimum", value):
        yield f"{at}: {value} must be {schema['minimum']} or more"
    elif isinstance(value, int | float) and value > schema.get("maximum", value):
        yield f"{at}: {value} must be {schema['maximum']} or less"


def _object_faults(value: dict[str, Any], schema: Any, definitions: Mapping[str, Any], at: str) -> Iterator[str]:
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    yield from (f"{at}: {key} is missing" for key in schema.get("required", ()) if key not in value)
    for key, own in value.items():
        if key in known:
            yield from _faults(own, known[key], definitions, f"{at}.{key}")
        elif others is False:
            yield f"{at}: {key} is not declared"
        else:
            yield from _faults(own, others, definitions, f"{at}.{key}")
