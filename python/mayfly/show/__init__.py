"""How things are shown: the frame of a page, tables, plots, colours. Shapes, no content."""
