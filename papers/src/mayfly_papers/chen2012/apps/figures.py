"""Figures of the thesis's chapter on applications."""

from mayfly_papers.chen2012.apps.tables import pictures
from mayfly_papers.chen2012.enterprise import figures as enterprise_figures
from mayfly_papers.declare.pictures import Drawing

DRAWINGS = (Drawing.of_own_runs("Chen 2012, Fig. 9.2 to 9.6", pictures), enterprise_figures.APPS)
