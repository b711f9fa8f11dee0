"""Tables: what every column is called, holds and means.

A column is declared once, where its values are made: in a Rust struct (``crates/tables``) or in a :class:`Table` of the
stage that adds it. Polars schemas, the metadata of Parquet files and the tables of the documentation come from there.
"""

from mayfly.tables.table import Column, Table, native

__all__ = ["Column", "Table", "native"]
