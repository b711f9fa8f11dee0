"""Figures of the thesis's chapter on applications."""

from mayfly_papers.chen2012.apps.tables import figures
from mayfly_papers.chen2012.enterprise import figures as enterprise_figures
from mayfly_papers.declare.figure import Drawn

FIGURES = (Drawn.of_own_runs("Chen 2012, Fig. 9.2 to 9.6", figures), enterprise_figures.APPS)
