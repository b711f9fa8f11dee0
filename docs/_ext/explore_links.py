"""The page of `mayfly explore` as part of the site, and links to states of it.

``{explore}`TEXT <STATE>` `` is a link to a state of the page, written as its address has it behind ``#``:
``workload=office&rate=10mbit&d=fifo&d=lfq``. ``{explore-page}`` says where the page is. `make explore` builds the page,
and the site takes it from there as its folder ``explore``; without it both lead to docs/how-to/explore.md, and say so.
"""

import shutil
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import ReferenceRole, SphinxDirective

PAGE = Path(__file__).parents[2] / "python" / "mayfly" / "explore" / "page"
FOLDER = "explore"
HOW_TO = "how-to/explore"


def is_built() -> bool:
    """Whether `make explore` was run."""
    return (PAGE / "index.html").is_file()


def address(app: Sphinx, document: str, state: str) -> str:
    """Address of a state of the page from a document, or of the how-to page without it."""
    if not is_built():
        return app.builder.get_relative_uri(document, HOW_TO)
    up = "../" * app.builder.get_target_uri(document).count("/")
    return f"{up}{FOLDER}/index.html" + (f"#{state}" if state else "")


class Explore(ReferenceRole):
    """A link to a state of the page."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Make the reference; the site without the page says what there would be."""
        self.env.note_reread()
        uri = address(self.env.app, self.env.docname, self.target)
        told = f"mayfly explore, #{self.target}" + ("" if is_built() else ": this site was built without the page")
        link = nodes.reference(self.rawtext, self.title, internal=True, refuri=uri, reftitle=told, classes=["explore"])
        return [link], []


class ExplorePage(SphinxDirective):
    """Where the page is, in a sentence."""

    def run(self) -> list[nodes.Node]:
        """Say it as the site was built."""
        self.env.note_reread()
        if not is_built():
            text = "This site was built without the page: `make explore`, then `make docs`, puts it here."
            return self.parse_text_to_nodes(text)
        paragraph = nodes.paragraph("", "The page is part of this site: ")
        uri = address(self.env.app, self.env.docname, "")
        paragraph += nodes.reference("", "open it", internal=True, refuri=uri)
        paragraph += nodes.Text(".")
        return [paragraph]


def take(app: Sphinx, error: Exception | None) -> None:
    """Copy the page into the site that was built."""
    target = Path(app.outdir) / FOLDER
    if error is not None or app.builder.format != "html":
        return
    shutil.rmtree(target, ignore_errors=True)
    if is_built():
        shutil.copytree(PAGE, target)


def setup(app: Sphinx) -> dict:
    """Register role, directive and copy."""
    app.add_role("explore", Explore())
    app.add_directive("explore-page", ExplorePage)
    app.connect("build-finished", take)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
