//! Tables: what every column is called and means, declared once beside the field that holds its values.
//!
//! [`record!`] declares a struct and the columns of its table in one go. The Arrow arrays that cross to Python, the
//! polars tables, the metadata of Parquet files and the tables of `docs/tables.md` are all made from that declaration.

mod column;
mod record;
mod value;

pub use column::{Column, Meaning};
pub use record::{Record, Table};
pub use value::{Kind, SetBits, Value, Values};

/// What is wrong with the names of a table's columns: an empty meaning, or a name that two columns have.
///
/// # Errors
/// One line that names the column.
pub fn check<R: Record>() -> Result<(), String> {
    let mut names = std::collections::HashSet::new();
    for column in R::columns() {
        let Meaning { name, meaning, .. } = &column.meaning;
        if meaning.trim().is_empty() {
            return Err(format!("{}.{name}: has no meaning", R::TABLE));
        }
        if !names.insert(name.clone()) {
            return Err(format!("{}.{name}: two columns have this name", R::TABLE));
        }
    }
    Ok(())
}
