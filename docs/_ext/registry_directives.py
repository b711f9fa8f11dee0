"""Directives that are filled from the package while the pages are read.

``{from-package} NAME`` is a table of :mod:`reference_tables`; ``{columns} MODULE:NAME``, the columns of a
:class:`mayfly.tables.Table`; ``{summary} NAME``, the keys of an object of ``summary.json`` and of those inside it.
"""

from importlib import import_module

import reference_tables
import summary_types
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

TABLES = {
    "disciplines": reference_tables.disciplines,
    "options": reference_tables.options,
    "scenario": reference_tables.scenario_fields,
    "commands": reference_tables.commands,
    "attacks": reference_tables.attacks,
    "laws": reference_tables.laws,
    "sources": reference_tables.sources,
    "flow-formats": reference_tables.flow_formats,
    "service-laws": reference_tables.service_laws,
    "policies": reference_tables.policies,
    "model-pages": reference_tables.model_pages,
    "estimator-methods": reference_tables.estimator_methods,
    "estimator-parameters": reference_tables.estimator_parameters,
    "estimator-doubts": reference_tables.estimator_doubts,
}


class FromPackage(SphinxDirective):
    """Puts the Markdown of one table in the place of the directive."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Parse the table named in the argument."""
        name = self.arguments[0]
        if name not in TABLES:
            raise self.error(f"from-package '{name}': must be one of {', '.join(TABLES)}")
        # The tables belong to the package, not to a file Sphinx watches: read this page again in every build.
        self.env.note_reread()
        return self.parse_text_to_nodes(TABLES[name]())


class Columns(SphinxDirective):
    """Puts the columns of a table in the place of the directive."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Find the table named in the argument."""
        module, _, name = self.arguments[0].partition(":")
        self.env.note_reread()
        return self.parse_text_to_nodes(getattr(import_module(module), name).markdown())


class Summary(SphinxDirective):
    """Puts the keys of an object of ``summary.json``, and of those inside it, in the place of the directive.

    Names of other objects behind the first say which have their tables elsewhere.
    """

    required_arguments = 1
    optional_arguments = 10

    def run(self) -> list[nodes.Node]:
        """Make the tables."""
        name, *elsewhere = self.arguments
        self.env.note_reread()
        return self.parse_text_to_nodes(summary_types.markdown(name, tuple(elsewhere)))


def setup(app: Sphinx) -> dict:
    """Register the directives."""
    app.add_directive("from-package", FromPackage)
    app.add_directive("columns", Columns)
    app.add_directive("summary", Summary)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
