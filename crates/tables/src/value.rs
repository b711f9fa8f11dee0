//! Values of columns.

use serde::Serialize;
use units::Time;

/// Type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Whole numbers of 64 bits with a sign.
    Int64,
    /// Floating-point numbers of 64 bits.
    Float64,
    /// True or false.
    Bool,
    /// Text.
    String,
    /// Lists of whole numbers.
    #[serde(rename = "list[int64]")]
    ListInt64,
}

/// The values of a column, one per row.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    Int64(Vec<i64>),
    /// Whole numbers that may be null.
    Int64OrNull(Vec<Option<i64>>),
    /// Numbers; NaN stands for null.
    Float64(Vec<f64>),
    /// True or false.
    Bool(Vec<bool>),
    /// Words of a fixed list, or null.
    Words(Vec<Option<&'static str>>),
    /// Text.
    Text(Vec<String>),
    /// Lists of the places of the bits that are set.
    SetBits(Vec<u64>),
}

/// A type that a column can have.
pub trait Value: Sized {
    /// Type of the column.
    const KIND: Kind;
    /// Whether a value can be null.
    const NULLABLE: bool = false;

    /// The values of a column.
    fn gather(values: impl Iterator<Item = Self>) -> Values;
}

/// A count beyond the range of the column stays at its end.
fn whole(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl Value for u64 {
    const KIND: Kind = Kind::Int64;

    fn gather(values: impl Iterator<Item = u64>) -> Values {
        Values::Int64(values.map(whole).collect())
    }
}

impl Value for u32 {
    const KIND: Kind = Kind::Int64;

    fn gather(values: impl Iterator<Item = u32>) -> Values {
        Values::Int64(values.map(i64::from).collect())
    }
}

impl Value for u16 {
    const KIND: Kind = Kind::Int64;

    fn gather(values: impl Iterator<Item = u16>) -> Values {
        Values::Int64(values.map(i64::from).collect())
    }
}

impl Value for Option<u64> {
    const KIND: Kind = Kind::Int64;
    const NULLABLE: bool = true;

    fn gather(values: impl Iterator<Item = Option<u64>>) -> Values {
        Values::Int64OrNull(values.map(|value| value.map(whole)).collect())
    }
}

impl Value for f64 {
    const KIND: Kind = Kind::Float64;
    const NULLABLE: bool = true;

    fn gather(values: impl Iterator<Item = f64>) -> Values {
        Values::Float64(values.collect())
    }
}

impl Value for Option<f64> {
    const KIND: Kind = Kind::Float64;
    const NULLABLE: bool = true;

    fn gather(values: impl Iterator<Item = Option<f64>>) -> Values {
        Values::Float64(values.map(|value| value.unwrap_or(f64::NAN)).collect())
    }
}

/// Seconds; null for `Time::NEVER`.
impl Value for Time {
    const KIND: Kind = Kind::Float64;
    const NULLABLE: bool = true;

    fn gather(values: impl Iterator<Item = Time>) -> Values {
        let seconds = |time: Time| if time == Time::NEVER { f64::NAN } else { time.as_secs_f64() };
        Values::Float64(values.map(seconds).collect())
    }
}

impl Value for bool {
    const KIND: Kind = Kind::Bool;

    fn gather(values: impl Iterator<Item = bool>) -> Values {
        Values::Bool(values.collect())
    }
}

impl Value for &'static str {
    const KIND: Kind = Kind::String;

    fn gather(values: impl Iterator<Item = &'static str>) -> Values {
        Values::Words(values.map(Some).collect())
    }
}

impl Value for Option<&'static str> {
    const KIND: Kind = Kind::String;
    const NULLABLE: bool = true;

    fn gather(values: impl Iterator<Item = Option<&'static str>>) -> Values {
        Values::Words(values.collect())
    }
}

impl Value for String {
    const KIND: Kind = Kind::String;

    fn gather(values: impl Iterator<Item = String>) -> Values {
        Values::Text(values.collect())
    }
}

/// A mask, of which the column lists the places of the bits that are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetBits(pub u64);

impl Value for SetBits {
    const KIND: Kind = Kind::ListInt64;

    fn gather(values: impl Iterator<Item = SetBits>) -> Values {
        Values::SetBits(values.map(|SetBits(mask)| mask).collect())
    }
}
