"""Tables and figures of the founding papers as declared experiments, a folder for each page."""
