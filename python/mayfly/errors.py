"""The one base of every error Mayfly raises on purpose."""


class MayflyError(Exception):
    """Bad input, told in one line that names the value and the bound; the command line exits with status 2.

    Examples
    --------
    >>> str(MayflyError("load = -1: must be above 0"))
    'load = -1: must be above 0'
    """
