"""Who runs next: a few runs at a time, the newest of those that wait first."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AT_ONCE = 2
"""Runs at the same time."""

MOST_WAITING = 64
"""Runs that wait at most; beyond, the oldest is given up."""

_LOOK_S = 0.2
"""Time between two looks whether who waits is still there."""


class GivenUp(Exception):  # noqa: N818
    """A run that does not begin: whoever asked went away, or asked for too many."""


class Newest:
    """A queue of runs in which the newest goes first: what a slider left behind may wait.

    Parameters
    ----------
    at_once : int
        Runs that go on at the same time.
    most : int
        Runs that wait at most.
    """

    def __init__(self, at_once: int = AT_ONCE, most: int = MOST_WAITING):
        self._free = at_once
        self._most = most
        self._waiting: list[object] = []
        self._changed = threading.Condition()

    @contextmanager
    def turn(self, is_there: Callable[[], bool]) -> Iterator[None]:
        """Waits for a turn, and has it for the body.

        Parameters
        ----------
        is_there : callable
            Whether who asked still waits for the answer; asked now and then, and before the turn begins.

        Raises
        ------
        GivenUp
            Nobody waits any more, or newer runs took all the places.
        """
        own = object()
        with self._changed:
            self._waiting.append(own)
            if len(self._waiting) > self._most:
                del self._waiting[0]
                self._changed.notify_all()
            try:
                while own in self._waiting and not (self._free and self._waiting[-1] is own):
                    self._changed.wait(_LOOK_S)
                    if not is_there():
                        raise GivenUp
                if own not in self._waiting or not is_there():
                    raise GivenUp
                self._free -= 1
            finally:
                if own in self._waiting:
                    self._waiting.remove(own)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._free += 1
                self._changed.notify_all()
