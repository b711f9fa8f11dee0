"""Scripts of packetdrill played to our TCP, and to the TCP of a Linux kernel: an interpreter and its results.

The language is that of https://github.com/google/packetdrill at 2c4001c. Scripts are read where they are (``GTESTS``,
``SELFTESTS``): they are under the GPL and not part of this project.

- ``script``: the language
- ``play``: what packetdrill does with a script, above a back end
- ``simulated``: the back end that is one end of a connection of ``crates/netsim``
- ``kernel``: the back end that is the kernel this runs in, behind a TUN device
- ``results``: all scripts, with the recorded verdicts in ``verdicts.toml``, and the page docs/kernel/packetdrill.md
"""
