"""Two freezes compared: what differs, grouped by part and key, and what of it is allowed."""

import fnmatch
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ABSENT = "(absent)"
_SHOWN = 3


@dataclass(frozen=True)
class Difference:
    """A key of an item of a part whose value differs."""

    part: str
    item: str
    key: str
    before: Any
    after: Any


@dataclass(frozen=True)
class Allowed:
    """Globs of part, item and key that may differ, and why."""

    part: str
    item: str
    key: str
    reason: str

    def covers(self, found: Difference) -> bool:
        """Whether it speaks of this difference."""
        pairs = ((found.part, self.part), (found.item, self.item), (found.key, self.key))
        return all(fnmatch.fnmatchcase(text, glob) for text, glob in pairs)


def read_allowed(path: Path) -> list[Allowed]:
    """The entries of a file: each must say what differs, in all three globs, and why."""
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("allowed", [])
    found = [Allowed(**entry) for entry in entries]
    for entry in found:
        if not entry.reason.strip():
            raise ValueError(f"{path.name}: {entry.part}/{entry.item}: no reason is given")
    return found


def differences(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Difference]:
    """All that differs in the parts both have; a part that only one has is not compared."""
    for part in before:
        if part not in after:
            continue
        for name in [*before[part], *(name for name in after[part] if name not in before[part])]:
            yield from _of_item(part, name, before[part].get(name), after[part].get(name))


def _of_item(part: str, name: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> Iterator[Difference]:
    if before is None or after is None:
        yield Difference(part, name, "(item)", *(ABSENT if side is None else "present" for side in (before, after)))
        return
    keys = [*before, *(key for key in after if key not in before)]
    found = [
        Difference(part, name, key, before.get(key, ABSENT), after.get(key, ABSENT))
        for key in keys
        if not _same(before.get(key, ABSENT), after.get(key, ABSENT))
    ]
    # The digest of a whole says no more than that one of its keys differs.
    telling = [one for one in found if one.key != "digest"]
    yield from telling or found


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def report(found: list[Difference]) -> str:
    """Part by part and key by key: how many items differ, and some of them."""
    groups: dict[str, dict[str, list[Difference]]] = defaultdict(lambda: defaultdict(list))
    for one in found:
        groups[one.part][one.key].append(one)
    lines = []
    for part, keys in groups.items():
        lines.append(f"{part}: {sum(map(len, keys.values()))} differences in {len(keys)} keys")
        for key, ones in keys.items():
            lines.append(f"  {key}: {len(ones)}")
            lines += [f"    {one.item}: {one.before!r} -> {one.after!r}" for one in ones[:_SHOWN]]
            lines += [f"    ... {len(ones) - _SHOWN} more"] * (len(ones) > _SHOWN)
    return "\n".join(lines)
