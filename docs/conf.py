"""Sphinx configuration: MyST pages, furo theme, reference tables read from the installed package."""

import sys
from importlib.metadata import version as installed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import discipline_pages

discipline_pages.write()

project = "Mayfly"
author = "The Mayfly developers"
copyright = "The Mayfly developers; Apache-2.0 OR MIT"
release = installed("mayfly")
version = release

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "mathml", "registry_directives", "explore_links"]
html_math_renderer = "mathml"
exclude_patterns = ["README.md", "_build", "_ext", "_extra"]
# What `make reproduction` leaves there, if it ran.
html_extra_path = [name for name in ("_extra",) if (Path(__file__).parent / name).is_dir()]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}

# Notebooks are kept without outputs and run when the site is built; one that fails fails the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_title = "Mayfly"
html_copy_source = False
