"""The tables of a comparison, for the terminal and the page alike."""
