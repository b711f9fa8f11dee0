"""Which files of a Rust crate import which, and the circles among them."""

import re
from pathlib import Path

TREE = r"((?:::\w+)*)(?:::\{([^}]*(?:\{[^}]*\}[^}]*)*)\})?( as \w+)?"
"""The rest of a path after its first word: further words, then names in braces or another name."""

CHILD = re.compile(r"^\s*(?:pub(?:\([\w: ]+\))? )?mod (\w+);", re.MULTILINE)
HANDED = re.compile(r"\bpub(?:\([\w: ]+\))? use (\w+)" + TREE + ";")


def code_of(file):
    """A Rust file without comments and unit tests."""
    text = re.split(r"#\[cfg\(test\)\]\s*(?:pub(?:\(crate\))? )?mod \w+ \{", file.read_text(encoding="utf-8"))[0]
    return re.sub(r"//.*", "", text)


def modules(source):
    """Files of a crate by the path of their module; the root is ``()``."""
    found = {}
    for file in source.rglob("*.rs"):
        parts = list(file.relative_to(source).with_suffix("").parts)
        if parts[-1] in ("mod", "lib", "main"):
            parts.pop()
        if "tests" not in parts:
            found[tuple(parts)] = file
    return found


def names(text):
    """Paths within braces: ``a::b as f, c::{d, e}`` gives ``a::b as f``, ``c::d``, ``c::e``."""
    depth, word = 0, ""
    prefix = ""
    for letter in text + ",":
        if letter == "{":
            prefix, word, depth = word.rstrip(":").strip(), "", depth + 1
        elif letter in ",}":
            if word.strip():
                yield "::".join(part for part in (prefix if depth else "", word.strip()) if part)
            word = ""
            if letter == "}":
                depth, prefix = depth - 1, ""
        else:
            word += letter


def paths(code, first):
    """Paths in a file that begin with one of some words: the word, what follows it, and its name in the file."""
    for match in re.finditer(rf"(?<![\w:])({'|'.join(first)})(?=::){TREE}", code):
        ends = [f"{match[2]}::{name}" for name in names(match[3])] if match[3] else [match[2] + (match[4] or "")]
        for end in ends:
            path, _, other = end.partition(" as ")
            parts = [part for part in path.split("::") if part]
            yield match[1], parts, other or (parts[-1] if parts else "")


def absolute(module, first, rest):
    """A path from the root of the crate; ``first`` is ``crate``, ``self``, ``super`` or a child of the module."""
    if first == "crate":
        return (*rest,)
    while first == "super" and rest[:1] == ["super"]:
        module, rest = module[:-1], rest[1:]
    start = module[:-1] if first == "super" else module
    return (*start, *rest) if first in ("self", "super") else (*start, first, *rest)


def imports(source):
    """Edges between the files of a crate.

    Parameters
    ----------
    source : pathlib.Path
        Folder ``src`` of the crate.

    Returns
    -------
    dict of set of str
        By file, what it imports of others, its children included. A name that a module hands on (``pub use``) leads to
        the file it is from, and handing on those of a child imports nothing.
    """
    files = modules(source)
    code = {module: code_of(file) for module, file in files.items()}
    firsts = {module: ["crate", "super", "self", *CHILD.findall(text)] for module, text in code.items()}
    handed = {}
    for module, text in code.items():
        for match in HANDED.finditer(text):
            if match[1] in firsts[module]:
                for first, rest, name in paths(match[0].partition(" use ")[2], [match[1]]):
                    handed[(*module, name)] = absolute(module, first, rest)
    graph = {}
    for module, text in code.items():
        children, edges = CHILD.findall(text), set()
        used = HANDED.sub(lambda match, own=children: "" if match[1] in own else match[0], CHILD.sub("", text))
        for first, rest, _ in paths(used, firsts[module]):
            path = found(absolute(module, first, rest), files, handed)
            # A child is a part of its parent: what it takes from there is no import.
            if path and path != module[: len(path)]:
                edges.add("/".join(path))
        graph["/".join(module) or "lib"] = edges
    return graph


def found(path, files, handed):
    """The file that a path leads to; ``()`` for the root of the crate."""
    for _ in range(10):
        whole = next((path[:end] for end in range(len(path), 0, -1) if path[:end] in handed), None)
        if path in files or whole is None:
            break
        path = (*handed[whole], *path[len(whole) :])
    while path and path not in files:
        path = path[:-1]
    return path


def circles(graph):
    """Strongly connected files, each sorted.

    Parameters
    ----------
    graph : dict of set of str
        As of :func:`imports`.

    Returns
    -------
    list of list of str
    """

    def reached(start):
        seen, ahead = set(), [start]
        while ahead:
            for end in graph.get(ahead.pop(), ()):
                if end not in seen:
                    seen.add(end)
                    ahead.append(end)
        return seen

    of = {name: reached(name) for name in graph}
    found = {tuple(sorted(other for other in of[name] if name in of[other])) for name in graph if name in of[name]}
    return sorted(list(circle) for circle in found)


if __name__ == "__main__":
    import sys

    for folder in sys.argv[1:]:
        graph = imports(Path(folder))
        found = circles(graph)
        print(folder, len(graph), "files,", sum(map(len, graph.values())), "imports,", len(found), "circles")
        for circle in found:
            print("   ", len(circle), " ".join(circle))
