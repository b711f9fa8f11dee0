//! Scripts and bursts of flow lists as lists of structs in Arrow.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeListArray, RecordBatch, StringViewArray, StructArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use settings::{BurstColumns, PartColumns, ScriptColumns, StreamColumns};
use units::Time;
use workload::{Burst, BurstError, Offering, Script, Segments, Train, Volume, Wrong, WrongBurst};

use crate::table::Table;

const UP: &str = "up";
const SIZE: &str = "size_bytes";
const WAIT: &str = "wait_ns";
const PACE: &str = "pace_ns";
const PARTS: &str = "parts";
const STREAMS: &str = "streams";
const DONE: &str = "done";
const AT: &str = "at_ns";
const GAP: &str = "gap_ns";
const PACKETS: &str = "packets";
const PACKET: &str = "packet_bytes";

pub(crate) fn other(error: impl std::fmt::Display) -> PyErr {
    PyTypeError::new_err(error.to_string())
}

/// A table that speaks the Arrow C data interface, in the parts that it has.
pub(crate) fn batches(table: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    let capsule = table.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    #[expect(unsafe_code, reason = "the capsule holds such a stream, which nobody else takes")]
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) };
    reader.map_err(other)?.collect::<Result<Vec<_>, _>>().map_err(other)
}

/// The first column of such a table.
fn column(table: &Bound<'_, PyAny>) -> PyResult<Vec<ArrayRef>> {
    batches(table)?.iter().map(|batch| batch.columns().first().cloned().ok_or_else(|| other("no column"))).collect()
}

/// Texts of a column, none where it is null.
pub(crate) fn texts(table: &Bound<'_, PyAny>) -> PyResult<Vec<Option<String>>> {
    let mut found = Vec::new();
    for array in column(table)? {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        match array.data_type() {
            DataType::Utf8View => found.extend(array.as_string_view().iter().map(owned)),
            DataType::LargeUtf8 => found.extend(array.as_string::<i64>().iter().map(owned)),
            DataType::Utf8 => found.extend(array.as_string::<i32>().iter().map(owned)),
            DataType::Null => found.extend((0..array.len()).map(|_| None)),
            other_type => return Err(other(format!("{other_type}: must be text"))),
        }
    }
    Ok(found)
}

/// Lists of structs: for each row the places of its values among all, none where it is null.
struct Lists {
    rows: Vec<Option<std::ops::Range<usize>>>,
    values: StructArray,
}

impl Lists {
    fn of(array: &ArrayRef) -> PyResult<Option<Lists>> {
        let (offsets, values): (Vec<usize>, ArrayRef) = match array.data_type() {
            DataType::Null => return Ok(None),
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                (list.offsets().iter().map(|&offset| offset as usize).collect(), Arc::clone(list.values()))
            }
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                (list.offsets().iter().map(|&offset| offset as usize).collect(), Arc::clone(list.values()))
            }
            other_type => return Err(other(format!("{other_type}: must be a list of structs"))),
        };
        let (offsets, values) = held(&offsets, &values);
        let Some(values) = values.as_struct_opt() else {
            return Err(other(format!("{}: must be a list of structs", array.data_type())));
        };
        let row = |row: usize| array.is_valid(row).then(|| offsets[row]..offsets[row + 1]);
        Ok(Some(Lists { rows: (0..array.len()).map(row).collect(), values: values.clone() }))
    }

    /// Whole numbers of a field.
    ///
    /// # Errors
    /// The field is absent where it must be there, of another type, null, or negative.
    fn whole(&self, name: &str, absent: Option<i64>) -> PyResult<Vec<u64>> {
        let Some(values) = self.values.column_by_name(name) else {
            let absent = absent.ok_or_else(|| other(format!("field {name} is missing")))?;
            return Ok(vec![absent as u64; self.values.len()]);
        };
        numbers(values, name, absent)
    }

    fn flags(&self, name: &str, required: bool) -> PyResult<Vec<bool>> {
        let Some(values) = self.values.column_by_name(name) else {
            return if required {
                Err(other(format!("field {name} is missing")))
            } else {
                Ok(vec![false; self.values.len()])
            };
        };
        let Some(values) = values.as_boolean_opt() else {
            return if values.null_count() == values.len() && !required {
                Ok(vec![false; values.len()])
            } else {
                Err(other(format!("field {name} is of type {}: must be true or false", values.data_type())))
            };
        };
        if required && values.null_count() > 0 {
            return Err(other(format!("field {name} is null in a row: must be true or false")));
        }
        Ok(values.iter().map(|value| value.unwrap_or(false)).collect())
    }
}

/// The values that rows have, without those of rows that were cut or filtered away, and the offsets among them.
fn held(offsets: &[usize], values: &ArrayRef) -> (Vec<usize>, ArrayRef) {
    let first = offsets.first().copied().unwrap_or(0);
    let last = offsets.last().copied().unwrap_or(0);
    (offsets.iter().map(|offset| offset - first).collect(), values.slice(first, last - first))
}

fn numbers(values: &ArrayRef, name: &str, absent: Option<i64>) -> PyResult<Vec<u64>> {
    let signed = |value: Option<i64>| -> PyResult<u64> {
        let value =
            value.or(absent).ok_or_else(|| other(format!("field {name} is null in a row: must be a number")))?;
        u64::try_from(value).map_err(|_| other(format!("field {name} is {value} in a row: must be at least 0")))
    };
    match values.data_type() {
        DataType::Int64 => values.as_primitive::<Int64Type>().iter().map(signed).collect(),
        DataType::UInt64 => {
            let wide = |value: Option<u64>| value.map_or_else(|| signed(None), Ok);
            values.as_primitive::<UInt64Type>().iter().map(wide).collect()
        }
        DataType::UInt32 => {
            values.as_primitive::<UInt32Type>().iter().map(|value| signed(value.map(i64::from))).collect()
        }
        DataType::Null => (0..values.len()).map(|_| signed(None)).collect(),
        other_type => Err(other(format!("field {name} is of type {other_type}: must be int64"))),
    }
}

/// Parts of each train.
fn parts(lists: &Lists) -> PyResult<Vec<Vec<u64>>> {
    let Some(array) = lists.values.column_by_name(PARTS) else { return Ok(vec![Vec::new(); lists.values.len()]) };
    let (offsets, values): (Vec<usize>, &ArrayRef) = match array.data_type() {
        DataType::Null => return Ok(vec![Vec::new(); array.len()]),
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            (list.offsets().iter().map(|&offset| offset as usize).collect(), list.values())
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            (list.offsets().iter().map(|&offset| offset as usize).collect(), list.values())
        }
        other_type => return Err(other(format!("field {PARTS} is of type {other_type}: must be a list of int64"))),
    };
    let (offsets, values) = held(&offsets, values);
    if values.is_empty() {
        return Ok(vec![Vec::new(); array.len()]);
    }
    let values = numbers(&values, PARTS, None)?;
    let own =
        |row: usize| if array.is_valid(row) { values[offsets[row]..offsets[row + 1]].to_vec() } else { Vec::new() };
    Ok((0..array.len()).map(own).collect())
}

/// Scripts of a column, none where it is null.
fn scripts(table: &Bound<'_, PyAny>) -> PyResult<Vec<Option<Script>>> {
    let mut found = Vec::new();
    for array in column(table)? {
        let Some(lists) = Lists::of(&array)? else {
            found.extend((0..array.len()).map(|_| None));
            continue;
        };
        let (up, bytes) = (lists.flags(UP, true)?, lists.whole(SIZE, None)?);
        let (wait_ns, pace_ns) = (lists.whole(WAIT, Some(0))?, lists.whole(PACE, Some(0))?);
        let (streams, done, mut parts) = (lists.flags(STREAMS, false)?, lists.flags(DONE, false)?, parts(&lists)?);
        for row in &lists.rows {
            let mut train = |i: usize| Train {
                up: up[i],
                bytes: bytes[i],
                wait_ns: wait_ns[i],
                pace_ns: pace_ns[i],
                parts: std::mem::take(&mut parts[i]),
                streams: streams[i],
            };
            found.push(row.clone().map(|row| Script {
                done: row.clone().next_back().is_some_and(|last| done[last]),
                trains: row.map(&mut train).collect(),
            }));
        }
    }
    Ok(found)
}

/// Bursts of the flows of a column, none where it is null.
fn bursts(table: &Bound<'_, PyAny>) -> PyResult<Vec<Option<Vec<Burst>>>> {
    let mut found = Vec::new();
    for array in column(table)? {
        let Some(lists) = Lists::of(&array)? else {
            found.extend((0..array.len()).map(|_| None));
            continue;
        };
        let (at_ns, packet_bytes) = (lists.whole(AT, None)?, lists.whole(PACKET, None)?);
        let (gap_ns, packets) = (lists.whole(GAP, Some(0))?, lists.whole(PACKETS, Some(1))?);
        let burst =
            |i: usize| Burst { at_ns: at_ns[i], gap_ns: gap_ns[i], packets: packets[i], packet_bytes: packet_bytes[i] };
        found.extend(lists.rows.iter().map(|row| row.clone().map(|row| row.map(burst).collect())));
    }
    Ok(found)
}

/// A column of lists, from the number of values of each row and their fields.
fn lists(
    lengths: impl Iterator<Item = Option<usize>> + Clone,
    fields: Vec<(&str, ArrayRef)>,
) -> Result<ArrayRef, ArrowError> {
    let nulls: NullBuffer = lengths.clone().map(|length| length.is_some()).collect();
    let offsets = OffsetBuffer::from_lengths(lengths.map(|length| length.unwrap_or(0)));
    let (names, arrays): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    let of = |(name, array): (&str, &ArrayRef)| Field::new(name, array.data_type().clone(), true);
    let fields: Fields = names.into_iter().zip(&arrays).map(of).collect();
    let values = StructArray::try_new(fields, arrays, None)?;
    let item = Field::new("item", values.data_type().clone(), true);
    Ok(Arc::new(LargeListArray::try_new(Arc::new(item), offsets, Arc::new(values), Some(nulls))?))
}

pub(crate) fn whole(values: impl Iterator<Item = u64>) -> ArrayRef {
    // What is above is refused before.
    Arc::new(Int64Array::from_iter_values(values.map(|value| i64::try_from(value).unwrap_or(i64::MAX))))
}

pub(crate) fn whole_or_null(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    Arc::new(values.map(|value| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX))).collect::<Int64Array>())
}

/// A table of these columns, which may all be null in places.
pub(crate) fn table(columns: Vec<(&str, ArrayRef)>) -> Result<Table, ArrowError> {
    let of = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(of).collect::<Vec<_>>());
    Ok(RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect())?.into())
}

/// Scripts as a column.
pub(crate) fn script_column(scripts: &[Option<Script>]) -> Result<ArrayRef, ArrowError> {
    let trains = || scripts.iter().flatten().flat_map(|script| &script.trains);
    let ends = trains().flat_map(|train| &train.parts).copied();
    let ends = LargeListArray::try_new(
        Arc::new(Field::new("item", DataType::Int64, true)),
        OffsetBuffer::from_lengths(trains().map(|train| train.parts.len())),
        whole(ends),
        None,
    )?;
    let last = |script: &Script| script.trains.len() - 1;
    let done = scripts
        .iter()
        .flatten()
        .flat_map(|script| (0..script.trains.len()).map(|train| script.done && train == last(script)));
    let fields: Vec<(&str, ArrayRef)> = vec![
        (UP, Arc::new(trains().map(|train| Some(train.up)).collect::<BooleanArray>())),
        (SIZE, whole(trains().map(|train| train.bytes))),
        (WAIT, whole(trains().map(|train| train.wait_ns))),
        (PACE, whole(trains().map(|train| train.pace_ns))),
        (PARTS, Arc::new(ends)),
        (STREAMS, Arc::new(trains().map(|train| Some(train.streams)).collect::<BooleanArray>())),
        (DONE, Arc::new(done.map(Some).collect::<BooleanArray>())),
    ];
    lists(scripts.iter().map(|script| script.as_ref().map(|script| script.trains.len())), fields)
}

/// Scripts, their sizes and first directions.
fn scripts_table(scripts: &[Option<Script>]) -> PyResult<Table> {
    let first = |script: &Option<Script>| script.as_ref().and_then(|script| Some(script.trains.first()?.up));
    table(vec![
        ("script", script_column(scripts).map_err(other)?),
        (SIZE, whole_or_null(scripts.iter().map(|script| script.as_ref().map(Script::bytes)))),
        (UP, Arc::new(scripts.iter().map(first).collect::<BooleanArray>())),
    ])
    .map_err(other)
}

/// Bursts as a column.
pub(crate) fn burst_column(bursts: &[Option<Vec<Burst>>]) -> Result<ArrayRef, ArrowError> {
    let all = || bursts.iter().flatten().flatten();
    let fields: Vec<(&str, ArrayRef)> = vec![
        (AT, whole(all().map(|burst| burst.at_ns))),
        (GAP, whole(all().map(|burst| burst.gap_ns))),
        (PACKETS, whole(all().map(|burst| burst.packets))),
        (PACKET, whole(all().map(|burst| burst.packet_bytes))),
    ];
    lists(bursts.iter().map(|own| own.as_ref().map(Vec::len)), fields)
}

/// Bursts, and what they add up to.
fn bursts_table(bursts: &[Option<Vec<Burst>>]) -> PyResult<Table> {
    let volumes: Vec<_> = bursts.iter().map(|own| own.as_ref().map(|own| Volume::of(own))).collect();
    let volume = |of: fn(&Volume) -> u64| whole_or_null(volumes.iter().map(|volume| volume.as_ref().map(of)));
    table(vec![
        ("bursts", burst_column(bursts).map_err(other)?),
        (SIZE, volume(|volume| volume.size_bytes)),
        ("wire_bytes", volume(|volume| volume.wire_bytes)),
        (PACKET, volume(|volume| volume.packet_bytes)),
        ("end_s", Arc::new(volumes.iter().map(|volume| volume.map(|volume| volume.end_s)).collect::<Float64Array>())),
    ])
    .map_err(other)
}

fn wrong_script(row: usize, wrong: Wrong) -> PyErr {
    PyValueError::new_err((row, wrong.part, wrong.bound))
}

fn wrong_burst(row: usize, wrong: WrongBurst) -> PyErr {
    PyValueError::new_err((row, (wrong.at_s, wrong.packet_bytes, wrong.packets, wrong.gap_s), wrong.bound))
}

/// Scripts of a column of texts, with size and first direction of each.
///
/// # Errors
/// `ValueError` of row, part and bound for a text that is no script.
#[pyfunction]
pub fn parse_scripts(texts: &Bound<'_, PyAny>) -> PyResult<Table> {
    let mut found = Vec::new();
    for (row, text) in self::texts(texts)?.into_iter().enumerate() {
        found.push(text.map(|text| Script::parse(&text).map_err(|wrong| wrong_script(row, wrong))).transpose()?);
    }
    scripts_table(&found)
}

/// The same of a column of lists of trains.
///
/// # Errors
/// `ValueError` of row, part and bound for what is no script; `TypeError` for other structs.
#[pyfunction]
pub fn check_scripts(scripts: &Bound<'_, PyAny>) -> PyResult<Table> {
    let found = self::scripts(scripts)?;
    for (row, script) in found.iter().enumerate() {
        script.as_ref().map_or(Ok(()), Script::check).map_err(|wrong| wrong_script(row, wrong))?;
    }
    scripts_table(&found)
}

/// Scripts as texts.
///
/// # Errors
/// `TypeError` for other structs.
#[pyfunction]
pub fn write_scripts(scripts: &Bound<'_, PyAny>) -> PyResult<Table> {
    let texts = self::scripts(scripts)?.into_iter().map(|script| script.map(|script| script.to_string()));
    table(vec![("script", Arc::new(texts.collect::<StringViewArray>()))]).map_err(other)
}

/// Bursts of a column of texts, with what those of each flow add up to; at most `most` in all.
///
/// # Errors
/// `ValueError` of row and text for a text of another form, of row, burst and bound for a burst, of a number for more.
#[pyfunction]
pub fn parse_bursts(texts: &Bound<'_, PyAny>, most: usize) -> PyResult<Table> {
    let (mut found, mut count) = (Vec::new(), 0);
    for (row, text) in self::texts(texts)?.into_iter().enumerate() {
        let own = text.map(|text| {
            workload::parse_bursts(&text).map_err(|error| match error {
                BurstError::Form => PyValueError::new_err((row, text)),
                BurstError::Wrong(wrong) => wrong_burst(row, wrong),
            })
        });
        let own = own.transpose()?;
        count += own.as_ref().map_or(0, Vec::len);
        found.push(own);
    }
    at_most(count, most)?;
    bursts_table(&found)
}

/// The same of a column of lists of bursts.
///
/// # Errors
/// As [`parse_bursts`]; `TypeError` for other structs.
#[pyfunction]
pub fn check_bursts(bursts: &Bound<'_, PyAny>, most: usize) -> PyResult<Table> {
    let found = self::bursts(bursts)?;
    at_most(found.iter().flatten().map(Vec::len).sum(), most)?;
    for (row, own) in found.iter().enumerate() {
        if own.as_ref().is_some_and(Vec::is_empty) {
            return Err(PyValueError::new_err((row, "", "")));
        }
        workload::check_bursts(own.as_deref().unwrap_or_default()).map_err(|wrong| wrong_burst(row, wrong))?;
    }
    bursts_table(&found)
}

fn at_most(count: usize, most: usize) -> PyResult<()> {
    if count > most { Err(PyValueError::new_err((count,))) } else { Ok(()) }
}

/// Bursts as texts.
///
/// # Errors
/// `TypeError` for other structs.
#[pyfunction]
pub fn write_bursts(bursts: &Bound<'_, PyAny>) -> PyResult<Table> {
    let texts = self::bursts(bursts)?.into_iter().map(|own| own.map(|own| workload::burst_text(&own)));
    table(vec![("bursts", Arc::new(texts.collect::<StringViewArray>()))]).map_err(other)
}

/// Span in seconds, flows that never end, and flows and bytes of each direction.
type Load = (f64, u64, [(u64, u64); 2]);

/// What `flows` offer: their span in seconds, the flows that never end, and flows and bytes of data packets with their
/// headers, down and up; [`workload::offered`]. `bursts` and `scripts` are tables of one column.
///
/// # Errors
/// `TypeError` for other columns.
#[pyfunction]
#[pyo3(signature = (flows, bursts, scripts, mss, header_bytes))]
pub fn offered(
    flows: &Bound<'_, PyAny>,
    bursts: Option<&Bound<'_, PyAny>>,
    scripts: Option<&Bound<'_, PyAny>>,
    mss: u64,
    header_bytes: u64,
) -> PyResult<Load> {
    let bursts = bursts.map(self::bursts).transpose()?.unwrap_or_default();
    let scripts = scripts.map(self::scripts).transpose()?.unwrap_or_default();
    let segments = Segments { mss, header_bytes };
    let mut found = Vec::new();
    for batch in batches(flows)? {
        let named = |name: &str| batch.column_by_name(name).ok_or_else(|| other(format!("{name} is missing")));
        let flag =
            |name: &str| named(name)?.as_boolean_opt().ok_or_else(|| other(format!("{name}: must be true or false")));
        let number = |name: &str| {
            let found = named(name)?.as_primitive_opt::<Float64Type>();
            found.ok_or_else(|| other(format!("{name}: must be float64")))
        };
        let bytes = |name: &str| {
            let found = named(name)?.as_primitive_opt::<Int64Type>();
            found.ok_or_else(|| other(format!("{name}: must be int64")))
        };
        let (up, udp, application) = (flag("up")?, flag("udp")?, flag("application")?);
        let (start_s, rate_bps) = (number("start_s")?, number("rate_bps")?);
        let (size, packet) = (bytes(SIZE)?, bytes(PACKET)?);
        for row in 0..batch.num_rows() {
            let place = found.len();
            found.push(Offering {
                up: up.value(row),
                udp: udp.value(row),
                application: application.value(row),
                start_s: start_s.value(row),
                size_bytes: size.value(row).unsigned_abs(),
                packet_bytes: packet.is_valid(row).then(|| packet.value(row).unsigned_abs()),
                rate_bps: rate_bps.is_valid(row).then(|| rate_bps.value(row)),
                bursts: bursts.get(place).and_then(|own| own.as_deref()).map(Volume::of),
                trains: scripts
                    .get(place)
                    .and_then(Option::as_ref)
                    .map(|script| segments.of_trains(script.trains.iter().map(|train| (train.up, train.bytes)))),
            });
        }
    }
    let load = workload::offered(found, segments);
    Ok((load.span_s, load.endless_flows, load.ways.map(|way| (way.flows, way.wire_bytes))))
}

/// Bursts of a ping, a column of one row: a packet of `packet_bytes` at a random instant of each interval before
/// `until_s`, in seconds; [`replay::ping_instants`].
#[pyfunction]
pub fn ping_bursts(seed: u64, until_s: f64, interval_s: f64, packet_bytes: u64) -> PyResult<Table> {
    let one = |at: units::Time| Burst { at_ns: at.0, gap_ns: 0, packets: 1, packet_bytes };
    let bursts = replay::ping_instants(seed, until_s, interval_s).into_iter().map(one).collect();
    table(vec![("bursts", burst_column(&[Some(bursts)]).map_err(other)?)]).map_err(other)
}

/// Trains of the scripts of a flow list, as they run; `up` says which flows go up.
pub(crate) fn script_trains(table: &Bound<'_, PyAny>, up: &[bool]) -> PyResult<Vec<Option<Vec<netsim::Train>>>> {
    let of = |(row, script): (usize, Option<Script>)| {
        let forward = up.get(row).copied().unwrap_or(false);
        let train = |train: Train| netsim::Train {
            forward: train.up == forward,
            bytes: train.bytes,
            wait: Time(train.wait_ns),
            pace: Time(train.pace_ns),
        };
        script.map(|script| script.trains.into_iter().map(train).collect())
    };
    Ok(scripts(table)?.into_iter().enumerate().map(of).collect())
}

/// Columns of the scripts of a flow list; `up` says which flows go up.
pub(crate) fn script_columns(table: &Bound<'_, PyAny>, up: &[bool]) -> PyResult<ScriptColumns> {
    let mut columns = ScriptColumns::default();
    for (flow, script) in (0..).zip(scripts(table)?) {
        let Some(script) = script else { continue };
        let forward = up.get(flow as usize).copied().unwrap_or(false);
        for (place, train) in (0..).zip(&script.trains) {
            columns.flow.push(flow);
            columns.forward.push((train.up == forward).into());
            columns.bytes.push(train.bytes);
            columns.wait_ns.push(train.wait_ns);
            columns.pace_ns.push(train.pace_ns);
            if train.streams {
                let StreamColumns { flow: flows, train: trains } = &mut columns.streams;
                flows.push(flow);
                trains.push(place);
            }
            let mut ends: Vec<(u64, u32)> = train.parts.iter().copied().zip(1..).collect();
            ends.sort_unstable();
            let PartColumns { flow: flows, train: trains, end, number } = &mut columns.parts;
            for (own, place_in_list) in ends {
                flows.push(flow);
                trains.push(place);
                end.push(own);
                number.push(place_in_list);
            }
        }
        if script.done {
            columns.done.push(flow);
        }
    }
    Ok(columns)
}

/// Columns of the bursts of a flow list.
pub(crate) fn burst_columns(table: &Bound<'_, PyAny>) -> PyResult<BurstColumns> {
    let mut columns = BurstColumns::default();
    for (flow, own) in (0..).zip(bursts(table)?) {
        for burst in own.iter().flatten() {
            columns.flow.push(flow);
            columns.at_ns.push(burst.at_ns);
            columns.gap_ns.push(burst.gap_ns);
            columns.packets.push(burst.packets);
            columns.packet_bytes.push(u32::try_from(burst.packet_bytes).map_err(other)?);
        }
    }
    Ok(columns)
}
