"""What became of the papers as a whole: headline claims and statements.

Everything here follows from the rows of a reproduction as its ``summary.json`` holds them; nothing is simulated.
``headlines.toml`` has the headline claims, each declared once, with the rows it rests on.
"""
