"""One TCP flow over a link that drops, delays and marks what it is told to: kernel and simulator side by side."""
