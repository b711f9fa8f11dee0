"""Which files of a Rust crate import which, and the circles among them."""

import re
from pathlib import Path

USE = re.compile(r"\b(crate|super)((?:::\w+)*)(?:::\{([^}]*(?:\{[^}]*\}[^}]*)*)\})?")


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
    """Beginnings of paths within braces: ``a::b, c::{d, e}`` gives ``a::b``, ``c``, ``c::d``, ``c::e``."""
    depth, word = 0, ""
    prefix = ""
    for letter in text + ",":
        if letter == "{":
            prefix, word, depth = word.rstrip(":").strip(), "", depth + 1
        elif letter in ",}":
            if word.strip():
                yield "::".join(part for part in (prefix if depth else "", word.strip().split(" as ")[0]) if part)
            word = ""
            if letter == "}":
                depth, prefix = depth - 1, ""
        else:
            word += letter


def imports(source):
    """Edges between the files of a crate.

    Parameters
    ----------
    source : pathlib.Path
        Folder ``src`` of the crate.

    Returns
    -------
    dict of set of str
        By file, what it imports of others. The names that the root of a crate hands on lead to the files they are from.
    """
    files = modules(source)
    handed = {}
    for line in re.finditer(r"pub(?:\(crate\))? use ([\w:]+)::(?:\{([^}]*)\}|(\w+));", code_of(files[()])):
        for name in (line[2] or line[3]).split(","):
            handed[name.strip()] = tuple(line[1].replace("crate::", "").split("::"))
    graph = {}
    for module, file in files.items():
        edges = set()
        for match in USE.finditer(code_of(file)):
            start = () if match[1] == "crate" else module[:-1]
            ends = [match[2].strip(":")] if not match[3] else [f"{match[2]}::{n}".strip(":") for n in names(match[3])]
            for end in ends:
                path = (*start, *(part for part in end.split("::") if part))
                if path and path[0] in handed and path[:1] not in files:
                    path = handed[path[0]]
                while path and path not in files:
                    path = path[:-1]
                if path and path != module:
                    edges.add("/".join(path))
        graph["/".join(module) or "lib"] = edges
    return graph


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
