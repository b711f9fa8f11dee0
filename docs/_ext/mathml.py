"""Equations as MathML, made when the site is built: a browser draws them without a script and without a network."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


def _made(node: nodes.Element, display: str) -> str:
    text = node.astext()
    try:
        return convert(text, display=display)
    except Exception as error:
        raise ExtensionError(f"{node.source}:{node.line}: ${text}$ is no equation: {error}") from error


def inline(writer: object, node: nodes.Element) -> None:
    """Write an equation in running text."""
    writer.body.append(_made(node, "inline"))
    raise nodes.SkipNode


def block(writer: object, node: nodes.Element) -> None:
    """Write an equation on lines of its own; one wider than the page scrolls by itself."""
    named = " ".join(f'id="{name}"' for name in node["ids"][:1])
    number = f'<span class="eqno">({node["number"]})</span>' if node.get("number") else ""
    writer.body.append(f'<div class="math-block" {named}>{_made(node, "block")}{number}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict:
    """Register the renderer, which `html_math_renderer` names."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
