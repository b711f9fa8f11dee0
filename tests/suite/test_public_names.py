"""The package as an interpreter shows it: names, completion, help, version."""

import inspect
import pydoc
import re
import rlcompleter
import subprocess
import sys
from importlib.metadata import version

import pytest

import mayfly


def functions():
    return {name: found for name in mayfly.__all__ if inspect.isfunction(found := getattr(mayfly, name))}


def test_dir_lists_the_public_names_and_nothing_of_the_loading():
    shown = [name for name in dir(mayfly) if not name.startswith("__")]
    assert shown == sorted(mayfly.__all__)
    assert "__version__" in dir(mayfly)


def test_dir_is_the_same_before_anything_is_loaded():
    code = "import mayfly; print(*[n for n in dir(mayfly) if not n.startswith('__')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == sorted(mayfly.__all__)


def test_every_name_of_dir_loads():
    assert all(getattr(mayfly, name) is not None for name in mayfly.__all__)
    with pytest.raises(AttributeError, match="no attribute 'whatiff'"):
        _ = mayfly.whatiff


def test_completion_finds_what_loads_late():
    complete = rlcompleter.Completer({"mayfly": mayfly})
    found = [complete.complete("mayfly.w", state) for state in range(3)]
    assert [name for name in found if name] in (["mayfly.whatif("], ["mayfly.whatif()"])


def test_version_is_that_of_the_distribution():
    assert mayfly.__version__ == version("mayfly")


@pytest.mark.parametrize("name", sorted(functions()))
def test_help_lists_each_function_with_its_first_line(name):
    function = functions()[name]
    listed = re.search(rf"^{name}\((.*)\)\n    (.+)$", mayfly.__doc__, re.MULTILINE)
    assert listed, name
    parameters = [word.strip() for word in listed[1].split(",") if word.strip()]
    assert list(inspect.signature(function).parameters)[: len(parameters)] == parameters
    assert listed[2] == inspect.getdoc(function).splitlines()[0]


def test_help_begins_with_that_list():
    text = pydoc.plain(pydoc.render_doc(mayfly))
    assert text.index("compare(scenario, disciplines, flows)") < text.index("whatif(capture, rate, buffer") < 1500
