"""Disciplines on a network interface of this machine: kernel modules built, installed, loaded and looked at.

Everything is done by `make`, `tc`, `modprobe` and `bpftool`; what is missing is told in one line, with how to get it.
"""
