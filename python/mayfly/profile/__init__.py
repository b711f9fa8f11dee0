"""What is in a capture: traffic by class, load over time, sizes, fits, hosts and their roles.

Source: Chen 2012, ch. 8. Import the module you need; :func:`mayfly.profile.answer.profile` does all of it.
"""

from mayfly.callable_package import calls

calls(__name__, "mayfly.profile.answer", "profile")
