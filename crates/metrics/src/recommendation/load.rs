//! The command that switches a discipline on in front of a link.

use qdisc::{RunsOn, Value};
use serde::Serialize;

use crate::recommendation::asked::{Buffer, Framing, Links, Row, Unit, Way};

/// Share of the link's rate to shape to: the queue is to be where the discipline is, not in the modem behind it.
pub const BELOW_THE_LINK: f64 = 0.95;

/// Length of a full packet on Ethernet, bytes.
pub const FULL_PACKET_BYTES: u64 = 1514;

/// The least that a shaper is given, bit/s.
const LEAST_BPS: f64 = 1000.0;

/// Disciplines of Linux that `mayfly qdisc load` does not know: drr wants classes, dualpi2 is in few kernels.
const NOT_LOADED: [&str; 2] = ["drr", "dualpi2"];

/// Disciplines that share among users, and the option that says what a user is: where it is not named, `mayfly qdisc load
/// --both-ways` takes the hosts behind the interface, another one in each direction.
const OF_EACH_SIDE: [(&str, &str); 2] = [("cake", "isolation"), ("lfq", "user")];

/// Disciplines of Linux whose limit may be in bytes; modules all may.
const IN_BYTES: [&str; 3] = ["fifo", "red", "cake"];

/// To what both directions are shaped.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shapes {
    /// What arrives from the link.
    pub down: Shape,
    /// What is sent to it.
    pub up: Shape,
}

/// To what one direction is shaped.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shape {
    /// Bit/s.
    pub rate_bps: u64,
    /// Limit of the queue, in what the kernel's discipline counts.
    pub buffer: Buffer,
}

impl Shapes {
    /// 95 % of the rate of each direction, or what the runs shape it to, and its buffer.
    pub(crate) fn of(row: &Row, links: &Links, guessed: bool) -> Shapes {
        let [down, up] = [&links.down, &links.up].map(|way| Shape::of(row, way, guessed));
        Shapes { down, up }
    }
}

impl Shape {
    fn of(row: &Row, way: &Way, guessed: bool) -> Shape {
        let below = || (way.rate_bps * BELOW_THE_LINK).round_ties_even().max(LEAST_BPS);
        let bps = way.shaped_bps.unwrap_or_else(below);
        let (limit, unit) = way.buffer;
        let limit = if guessed { three_digits(limit as f64) } else { limit };
        let in_bytes = IN_BYTES.contains(&row.id.as_str()) || matches!(row.runs_on(), Some(RunsOn::Module { .. }));
        let buffer = match unit {
            Unit::Bytes if !in_bytes => (in_packets(limit), Unit::Packets),
            _ => (limit, unit),
        };
        Shape { rate_bps: if guessed { three_digits(bps) } else { bps as u64 }, buffer }
    }
}

/// Full packets in so many bytes, at least one.
fn in_packets(bytes: u64) -> u64 {
    ((bytes as f64 / FULL_PACKET_BYTES as f64).round_ties_even() as u64).max(1)
}

/// The nearest number of three digits and zeros.
fn three_digits(value: f64) -> u64 {
    let mut step = 1.0;
    while value >= 1000.0 * step {
        step *= 10.0;
    }
    ((value / step).round_ties_even() * step) as u64
}

/// The line for a terminal; `None` where `mayfly qdisc load` does not have the discipline, or not with these options.
///
/// Of a link that varies it shapes nothing: no fixed rate is right for it.
pub(crate) fn line(row: &Row, links: &Links, shapes: &Shapes, framing: Option<Framing>) -> Option<String> {
    if !row.in_kernel || row.place().is_none() || NOT_LOADED.contains(&row.id.as_str()) {
        return None;
    }
    if links.down.varies || links.up.varies {
        let (label, buffer) = (label(row, false), buffer_text(shapes.up.buffer));
        return Some(format!("mayfly qdisc load eth0 --discipline {label} --buffer {buffer}"));
    }
    let [down, up] = [shapes.down.buffer, shapes.up.buffer].map(buffer_text);
    let buffers =
        if down == up { format!("--buffer {down}") } else { format!("--down-buffer {down} --up-buffer {up}") };
    let [down, up] = [shapes.down.rate_bps, shapes.up.rate_bps].map(rate_text);
    let label = label(row, true);
    Some(format!(
        "mayfly qdisc load eth0 --both-ways --down {down} --up {up} --discipline {label} {buffers}{}",
        framed(row, framing)
    ))
}

/// Words about the frames of the link, and that no address is translated where the discipline would look.
fn framed(row: &Row, framing: Option<Framing>) -> String {
    let Some(framing) = framing else { return String::new() };
    let overhead = match framing.overhead_bytes {
        0 => String::new(),
        bytes => format!(" --overhead {bytes}"),
    };
    let by_host = OF_EACH_SIDE.iter().any(|(id, _)| *id == row.id);
    if by_host && !framing.translated { format!("{overhead} --no-nat") } else { overhead }
}

/// The discipline with its options, in quotes where a shell needs them; in both directions with what a user is, as it
/// was simulated.
fn label(row: &Row, both_ways: bool) -> String {
    let mut options = row.options.clone();
    let named = OF_EACH_SIDE.iter().find(|(id, _)| both_ways && *id == row.id);
    if let Some((_, name)) = named.filter(|(_, name)| !options.contains_key(*name)) {
        options.extend(default(row, name).map(|value| ((*name).to_owned(), value.to_owned())));
    }
    if options.is_empty() {
        return row.id.clone();
    }
    let options: Vec<_> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("'{}({})'", row.id, options.join(", "))
}

/// The default of an option that is a choice.
fn default(row: &Row, name: &str) -> Option<&'static str> {
    let spec = qdisc::disciplines::specs().iter().find(|spec| spec.id == row.id)?;
    match spec.params.iter().find(|param| param.name == name)?.value {
        Value::Choice(words) => words.first().copied(),
        _ => None,
    }
}

/// As tc and Mayfly take it, exactly: `9500kbit`, `18.8mbit`.
fn rate_text(bps: u64) -> String {
    for (factor, unit) in [(1_000_000_000, "gbit"), (1_000_000, "mbit"), (1000, "kbit")] {
        if bps.is_multiple_of(factor) {
            return format!("{}{unit}", bps / factor);
        }
        // Three digits say it: 18.8mbit and not 18800kbit, but 4750kbit.
        if bps > factor && bps.is_multiple_of(factor / 10) && bps / factor >= 10 {
            return format!("{}.{}{unit}", bps / factor, bps % factor / (factor / 10));
        }
    }
    format!("{bps}bit")
}

fn buffer_text((limit, unit): Buffer) -> String {
    match unit {
        Unit::Packets => limit.to_string(),
        Unit::Bytes if limit % 1_000_000 == 0 => format!("{}MB", limit / 1_000_000),
        Unit::Bytes if limit % 1000 == 0 => format!("{}kB", limit / 1000),
        Unit::Bytes => format!("{limit}B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(rate_bps: f64, buffer: Buffer) -> Way {
        Way { rate_bps, buffer, load: None, varies: false, shaped_bps: None }
    }

    fn command(id: &str, links: &Links, guessed: bool) -> Option<String> {
        let row = Row { id: id.into(), label: id.into(), in_kernel: true, ..Row::default() };
        line(&row, links, &Shapes::of(&row, links, guessed), None)
    }

    #[test]
    fn each_direction_has_its_rate_and_its_buffer() {
        let links = Links { down: way(20e6, (300, Unit::Packets)), up: way(5e6, (50, Unit::Packets)) };
        assert_eq!(
            command("fq_codel", &links, false).expect("it is there"),
            "mayfly qdisc load eth0 --both-ways --down 19mbit --up 4750kbit --discipline fq_codel --down-buffer 300 --up-buffer 50"
        );
        assert_eq!((command("drr", &links, false), command("srpt", &links, false)), (None, None));
    }

    #[test]
    fn what_the_runs_shape_to_is_what_the_command_shapes_to() {
        let shaped = Way { shaped_bps: Some(9e6), ..way(10e6, (300, Unit::Packets)) };
        let links = Links { down: shaped, up: way(2e6, (300, Unit::Packets)) };
        assert!(command("fq_codel", &links, false).expect("it is there").contains("--down 9mbit --up 1900kbit"));
    }

    #[test]
    fn a_guess_has_three_digits() {
        let links =
            Links { down: way(19_791_522.0, (143_995, Unit::Bytes)), up: way(998_765.0, (143_995, Unit::Bytes)) };
        let found = command("cake", &links, true).expect("it is there");
        assert_eq!(
            found,
            "mayfly qdisc load eth0 --both-ways --down 18.8mbit --up 949kbit --discipline 'cake(isolation=triple)' --buffer 144kB"
        );
        assert!(command("cake", &links, false).expect("it is there").contains("--down 18801946bit --up 948827bit"));
    }

    #[test]
    fn a_limit_in_bytes_is_one_in_packets_where_the_kernel_counts_packets() {
        let links = Links { down: way(10e6, (450_000, Unit::Bytes)), up: way(10e6, (450_000, Unit::Bytes)) };
        assert!(
            command("fq_codel", &links, false).expect("it is there").ends_with("--discipline fq_codel --buffer 297")
        );
        assert!(command("efd", &links, false).expect("it is there").ends_with("--discipline efd --buffer 450kB"));
    }

    #[test]
    fn rates_are_written_exactly() {
        let texts = [19_000_000, 9_500_000, 4_750_000, 18_800_000, 950, 1_900_000_000, 11_728_394].map(rate_text);
        assert_eq!(texts, ["19mbit", "9500kbit", "4750kbit", "18.8mbit", "950bit", "1900mbit", "11728394bit"]);
    }

    #[test]
    fn what_a_user_is_is_named_as_it_was_simulated() {
        let way = || way(10e6, (300, Unit::Packets));
        let mut links = Links { down: way(), up: way() };
        assert!(command("lfq", &links, false).expect("it is there").contains("--discipline 'lfq(user=pair)'"));
        links.up.varies = true;
        assert!(command("cake", &links, false).expect("it is there").contains("--discipline cake --buffer"));
    }

    #[test]
    fn frames_and_translated_addresses_are_said() {
        let links = Links { down: way(10e6, (300, Unit::Packets)), up: way(10e6, (300, Unit::Packets)) };
        let said = |id: &str, overhead_bytes, translated| {
            let row = Row { id: id.into(), label: id.into(), in_kernel: true, ..Row::default() };
            let framing = Some(Framing { overhead_bytes, translated });
            let found = line(&row, &links, &Shapes::of(&row, &links, false), framing).expect("it is there");
            found.split_once("--buffer 300").expect("a buffer").1.to_owned()
        };
        assert_eq!([said("cake", 26, true), said("cake", 0, true)], [" --overhead 26", ""]);
        assert_eq!(
            [said("lfq", 26, false), said("fq_codel", 22, false)],
            [" --overhead 26 --no-nat", " --overhead 22"]
        );
    }

    #[test]
    fn options_are_in_quotes() {
        let links = Links { down: way(10e6, (300, Unit::Packets)), up: way(10e6, (300, Unit::Packets)) };
        let options = [("threshold".to_owned(), "40000".to_owned())].into();
        let row = Row { id: "efd".into(), options, in_kernel: true, ..Row::default() };
        let found = line(&row, &links, &Shapes::of(&row, &links, false), None).expect("it is there");
        assert!(found.contains("--discipline 'efd(threshold=40000)'"), "{found}");
    }
}
