"""``python -m mayfly.cli``."""

from mayfly.cli import main

if __name__ == "__main__":
    main()
