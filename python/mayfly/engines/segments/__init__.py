"""One TCP flow over a link that drops, delays and marks what it is told to: the kernel and the simulator side by side."""
