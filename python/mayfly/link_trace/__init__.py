"""Links whose rate and delay vary: traces, their files, laws that make them, a model fitted to one."""
