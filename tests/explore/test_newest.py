"""The queue of runs: a few at a time, the newest first."""

import threading

import pytest

from mayfly.explore.queue import GivenUp, Newest


class Runs:
    """Runs in threads of their own, each of which ends when it is let go."""

    def __init__(self, at_once=1, most=64):
        self.queue = Newest(at_once, most)
        self.begun, self.given_up = [], []
        self.there = {}
        self.changed = threading.Condition()
        self.ends = {}
        self.threads = []

    def start(self, name):
        """Asks for a run, and waits until it runs or is in the queue."""
        self.there[name], self.ends[name] = True, threading.Event()
        before = len(self.queue._waiting)
        thread = threading.Thread(target=self._run, args=(name,), daemon=True)
        thread.start()
        self.threads.append(thread)
        self.until(lambda: name in (*self.begun, *self.given_up) or len(self.queue._waiting) > before or self.given_up)

    def _run(self, name):
        try:
            with self.queue.turn(lambda: self.there[name]):
                self._note(self.begun, name)
                self.ends[name].wait(60)
        except GivenUp:
            self._note(self.given_up, name)

    def _note(self, where, name):
        with self.changed:
            where.append(name)
            self.changed.notify_all()

    def until(self, true):
        with self.changed:
            for _ in range(6000):
                if true():
                    return
                self.changed.wait(0.01)
        raise AssertionError(f"began: {self.begun}, given up: {self.given_up}")

    def end(self, name):
        self.ends[name].set()


def test_the_newest_of_those_that_wait_goes_first():
    runs = Runs()
    for name in "abcd":
        runs.start(name)
    assert runs.begun == ["a"]
    for number, name in enumerate("adcb"):
        runs.end(name)
        runs.until(lambda number=number: len(runs.begun) == min(number + 2, 4))
    assert runs.begun == list("adcb")


def test_no_more_run_than_may():
    runs = Runs(at_once=2)
    for name in "abc":
        runs.start(name)
    assert sorted(runs.begun) == ["a", "b"]
    runs.end("b")
    runs.until(lambda: "c" in runs.begun)
    assert runs.begun[-1] == "c"


def test_who_went_away_is_given_up_and_holds_up_nobody():
    runs = Runs()
    for name in "abc":
        runs.start(name)
    runs.there["c"] = False
    runs.until(lambda: runs.given_up == ["c"])
    runs.end("a")
    runs.until(lambda: runs.begun == ["a", "b"])


def test_the_oldest_is_given_up_where_too_many_wait():
    runs = Runs(most=2)
    for name in "abcd":
        runs.start(name)
    runs.until(lambda: runs.given_up == ["b"])
    runs.end("a")
    runs.until(lambda: runs.begun == ["a", "d"])


def test_a_run_that_fails_gives_its_place_back():
    queue = Newest(at_once=1)
    with pytest.raises(ZeroDivisionError), queue.turn(lambda: True):
        raise ZeroDivisionError
    with queue.turn(lambda: True):
        pass


def test_a_run_for_nobody_does_not_begin():
    with pytest.raises(GivenUp), Newest().turn(lambda: False):
        raise AssertionError("it began")
