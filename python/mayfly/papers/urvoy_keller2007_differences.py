"""Why claims of Urvoy-Keller 2007 do not come out as printed, by claim."""

from mayfly.papers.declaration import Difference

DIFFERENCES: dict[str, Difference] = {}
