//! Rows of tables.

use serde::Serialize;

use crate::column::{Column, Meaning};

/// A row of a table.
pub trait Record: Sized + 'static {
    /// Name of the table.
    const TABLE: &'static str;
    /// Version of its columns.
    const VERSION: u32 = 1;

    /// Its columns in their order.
    fn columns() -> Vec<Column<Self>>;
}

/// What the columns of a table are called and mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// Name of the table.
    pub name: &'static str,
    /// Version of its columns.
    pub version: u32,
    /// Its columns in their order.
    pub columns: Vec<Meaning>,
}

impl Table {
    /// Of the rows `R`.
    pub fn of<R: Record>() -> Table {
        let columns = R::columns().into_iter().map(|column| column.meaning).collect();
        Table { name: R::TABLE, version: R::VERSION, columns }
    }
}

/// Declares a struct together with its table.
///
/// A field whose line ends in `=> "name", "unit"` is a column of that name; the doc comment of the field is the meaning
/// of the column. `as` and a function from a reference to the field give a column another type than the field has.
/// Columns that follow from a field in several parts come from the list behind `also`. `default` after the name of the
/// table implements `Default`, with the values behind `=` where a field has one.
///
/// ```
/// use tables::{Record, record};
/// use units::Time;
///
/// record! {
///     /// A packet that was dropped.
///     #[derive(Clone, Debug)]
///     pub struct Loss in "losses" default {
///         /// When it was dropped.
///         pub at: Time = Time::NEVER => "time_s", "s";
///         /// Length on the wire.
///         pub len: u32 => "wire_bytes", "bytes";
///         /// Place in the list.
///         pub row: u64;
///     }
/// }
/// let columns: Vec<_> = Loss::columns().into_iter().map(|column| column.meaning.name).collect();
/// assert_eq!(columns, ["time_s", "wire_bytes"]);
/// assert_eq!(Loss::default().at, Time::NEVER);
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $table:literal default { $($fields:tt)* }
        $($rest:tt)*
    ) => {
        $crate::record! {
            $(#[$meta])*
            pub struct $name in $table { $($fields)* }
            $($rest)*
        }
        $crate::record! { @default $name $($fields)* }
    };
    (
        @default $name:ident
        $(
            $(#[doc = $doc:literal])+
            pub $field:ident : $type:ty
                $(= $default:expr)? $(=> $column:literal $(, $unit:literal)? $(, as $value:expr)?)? ;
        )*
    ) => {
        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $crate::record!(@or_default $($default)?),)* }
            }
        }
    };
    (@column $columns:ident $name:ident $field:ident [$($doc:literal),+]) => {};
    (
        @column $columns:ident $name:ident $field:ident [$($doc:literal),+]
        $column:literal $(, $unit:literal)? $(, as $value:expr)?
    ) => {
        $columns.push($crate::Column::new(
            $column,
            concat!("" $(, $unit)?),
            concat!($($doc),+).trim(),
            |row: &$name| $crate::record!(@value row $field $($value)?),
        ));
    };
    (@or_default) => { Default::default() };
    (@or_default $default:expr) => { $default };
    (@value $row:ident $field:ident) => { $row.$field.clone() };
    (@value $row:ident $field:ident $value:expr) => { ($value)(&$row.$field) };
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $table:literal {
            $(
                $(#[doc = $doc:literal])+
                pub $field:ident : $type:ty
                    $(= $default:expr)? $(=> $column:literal $(, $unit:literal)? $(, as $value:expr)?)? ;
            )*
        }
        $(also $more:expr;)?
    ) => {
        $(#[$meta])*
        pub struct $name {
            $(
                $(#[doc = $doc])+
                pub $field: $type,
            )*
        }

        impl $crate::Record for $name {
            const TABLE: &'static str = $table;

            #[allow(clippy::vec_init_then_push, clippy::clone_on_copy, reason = "one push per column of a declaration")]
            fn columns() -> Vec<$crate::Column<Self>> {
                let mut columns = Vec::new();
                $(
                    $crate::record! {
                        @column columns $name $field [$($doc),+] $($column $(, $unit)? $(, as $value)?)?
                    }
                )*
                $(columns.extend($more);)?
                columns
            }
        }
    };
}
