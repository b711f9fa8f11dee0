"""``python -m mayfly.cli``."""

from mayfly.cli import main

main()
