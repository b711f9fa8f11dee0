"""Packages that are called by their own name: ``mayfly.profile(...)`` next to ``mayfly.profile.answer``."""

import inspect
import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class CallablePackage(ModuleType):
    """A package that stands for one of its functions when it is called."""

    _function: tuple[str, str]

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """What ``help`` shows: how the function is called, its own documentation, and that of the package."""
        function = self.__wrapped__
        first, _, rest = inspect.cleandoc(function.__doc__ or "").partition("\n")
        called = f"{self.__name__}{inspect.signature(function)}"
        return "\n".join((first, "", called, rest, "", "Package", "-------", vars(self).get("__doc__") or ""))

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function."""
        return self.__wrapped__(*arguments, **options)

    @property
    def __wrapped__(self) -> Any:
        """The function itself, which loads at its first use; :mod:`inspect` reads its signature here."""
        module, name = self._function
        return getattr(import_module(module), name)


def calls(package: str, module: str, name: str) -> None:
    """Let a package be called as one of its functions.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    module, name : str
        Where the function is. It is imported at its first call.
    """
    found = sys.modules[package]
    found.__class__ = CallablePackage
    found.__dict__["_function"] = (module, name)
