//! A column: its name, type, unit and meaning, and how its values follow from the rows.

use std::borrow::Cow;

use serde::Serialize;

use crate::value::{Kind, Value, Values};

/// What a column is called and means.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Meaning {
    /// Name in every table and file.
    pub name: Cow<'static, str>,
    /// Type of the values.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Whether a value may be null.
    pub nullable: bool,
    /// Unit of the values; empty for those without one.
    pub unit: &'static str,
    /// What the values say, in Markdown.
    pub meaning: Cow<'static, str>,
    /// Version of the table that first had the column.
    pub since: u32,
}

/// How the values of a column follow from the rows.
type Gather<R> = Box<dyn Fn(&[R]) -> Values>;

/// A column of the table of the rows `R`.
pub struct Column<R> {
    /// What it is called and means.
    pub meaning: Meaning,
    values: Gather<R>,
}

impl<R: 'static> Column<R> {
    /// A column of what `value` tells of a row; `meaning` is Markdown.
    pub fn new<V: Value>(
        name: impl Into<Cow<'static, str>>,
        unit: &'static str,
        meaning: impl Into<Cow<'static, str>>,
        value: impl Fn(&R) -> V + 'static,
    ) -> Column<R> {
        let meaning = Meaning {
            name: name.into(),
            kind: V::KIND,
            nullable: V::NULLABLE,
            unit,
            meaning: meaning.into(),
            since: 1,
        };
        Column { meaning, values: Box::new(move |rows| V::gather(rows.iter().map(&value))) }
    }

    /// The same column, which version `since` of the table was the first to have.
    #[must_use]
    pub fn since(mut self, since: u32) -> Column<R> {
        self.meaning.since = since;
        self
    }

    /// Its values in `rows`.
    pub fn values(&self, rows: &[R]) -> Values {
        (self.values)(rows)
    }
}
