"""Why claims of Chen 2012, ch. 6, 7 and 9.3.1 do not come out as printed, by claim."""

from mayfly.papers.declaration import Difference

DIFFERENCES: dict[str, Difference] = {}
