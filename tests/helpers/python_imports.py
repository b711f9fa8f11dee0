"""Which files of a Python package import which, in functions too. What is imported for types alone does not count."""

import ast


def _only_for_types(tree):
    """Nodes below `if TYPE_CHECKING:`."""
    blocks = (node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
    return {id(inner) for block in blocks for part in block.body for inner in ast.walk(part)}


def imports(*packages):
    """The modules that each module of some packages imports, by name; `packages` are their folders.

    A name taken from a package is that module of it where there is one, else the package.
    """
    files = {}
    for package in packages:
        for file in sorted(package.rglob("*.py")):
            parts = file.relative_to(package.parent).with_suffix("").parts
            files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    # The compiled module imports nothing of its package.
    native = {f"{package.name}._native" for package in packages}
    graph = {}
    for module, file in files.items():
        tree = ast.parse(file.read_text(encoding="utf-8"))
        skipped, found = _only_for_types(tree), set()
        for node in ast.walk(tree):
            if id(node) in skipped:
                continue
            if isinstance(node, ast.Import):
                found |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file}: a relative import"
                names = {f"{node.module}.{name.name}" for name in node.names}
                found |= {name if name in files or name in native else node.module for name in names}
        graph[module] = {name for name in found if name in files} - {module}
    return graph
