//! What a discipline of the registry decides about each packet of a trace, line by line.
//!
//! `decisions ID LIMIT [NAME=VALUE...] <TRACE`: the trace and the lines are those of `kernel/test/decisions.c`, which runs
//! the cores of the kernel modules, so that both can be compared.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fmt::Write as _;
use std::io::{BufRead, BufWriter, Write, stdin, stdout};

use qdisc::{DropReason, Ecn, Fate, Kind, Limit, Packet, Qdisc};
use units::{FlowKey, Stream, Time};

const USAGE: &str = "decisions ID LIMIT [NAME=VALUE...] <TRACE";

fn name(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Full => "full",
        DropReason::PushedOut => "pushed_out",
        DropReason::FlowFull => "flow_full",
        DropReason::Early => "early",
    }
}

fn packet<'a>(mut field: impl FnMut() -> Option<&'a str>) -> Option<Packet> {
    let flow: u64 = field()?.parse().ok()?;
    let mut packet = Packet {
        flow: FlowKey(flow),
        handle: field()?.parse().ok()?,
        progress: field()?.parse().ok()?,
        remaining: 0,
        arrival: Time::ZERO,
        len: field()?.parse().ok()?,
        src: (flow >> 1) as u32,
        dst: 0,
        options: 0,
        mark: 0,
        kind: match field()? {
            "d" => Kind::Data,
            "a" => Kind::Ack,
            "u" => Kind::Udp,
            _ => return None,
        },
        ecn: *[Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce].get(field()?.parse::<usize>().ok()?)?,
    };
    // Hosts and mark may be left out: then every connection has a host of its own.
    if let Some(src) = field() {
        packet.src = src.parse().ok()?;
        packet.dst = field()?.parse().ok()?;
        packet.mark = field()?.parse().ok()?;
    }
    Some(packet)
}

/// What was dropped, but for `own`, and the state after a call.
fn state(queue: &Qdisc, own: Option<u64>) -> String {
    let mut line = String::new();
    for (victim, reason) in queue.dropped().iter().filter(|(victim, _)| Some(victim.handle) != own) {
        write!(line, "{}{}:{}", if line.is_empty() { "" } else { "," }, victim.handle, name(*reason))
            .expect("a string takes all");
    }
    if line.is_empty() {
        line.push('-');
    }
    let high = queue.high_backlog().map_or("-".to_owned(), |packets| packets.to_string());
    write!(line, " {} {} {} {high}", queue.backlog(), queue.stats().backlog_bytes(), queue.flow_table_len())
        .expect("a string takes all");
    if let Some(told) = queue.nonresponsive() {
        let fixed = |value: f64| value * f64::from(1 << 14);
        write!(line, " {} {}", told.at.0, fixed(told.share)).expect("a string takes all");
        write!(line, " {} {}", fixed(told.flows), told.doubt.unwrap_or("-")).expect("a string takes all");
    }
    line
}

fn arrive(queue: &mut Qdisc, packet: Packet, now: Time) -> String {
    let fate = match queue.enqueue(packet, now) {
        Fate::Queued => "queued",
        Fate::Dropped(reason) => name(reason),
    };
    let class = queue.sorted().map_or("-", |sorted| match (sorted.high, sorted.fresh) {
        (true, true) => "hf",
        (true, false) => "h",
        (false, true) => "lf",
        (false, false) => "l",
    });
    format!("+ {} {fate} {class} {}", packet.handle, state(queue, Some(packet.handle)))
}

fn depart(queue: &mut Qdisc, now: Time) -> String {
    let peeked = queue.peek().map_or("-".to_owned(), |packet| packet.handle.to_string());
    let sent = queue.dequeue(now).map_or("- -".to_owned(), |sent| format!("{} {}", sent.handle, sent.ecn as u8));
    format!("- {sent} {peeked} {}", state(queue, None))
}

fn limit(text: &str) -> Option<Limit> {
    match (text.strip_suffix('p'), text.strip_suffix('b')) {
        (Some(packets), _) => packets.parse().ok().map(Limit::Packets),
        (_, Some(bytes)) => bytes.parse().ok().map(Limit::Bytes),
        _ => None,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (id, size) = (arguments.first().ok_or(USAGE)?, arguments.get(1).and_then(|text| limit(text)).ok_or(USAGE)?);
    let options: Option<Vec<_>> = arguments[2..].iter().map(|option| option.split_once('=')).collect();
    let options: Vec<_> =
        options.ok_or(USAGE)?.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut queue =
        Qdisc::from_options(id, &options, size, Stream::named(1, "decisions")).map_err(|e| e.to_string())?;
    let mut out = BufWriter::new(stdout().lock());
    for line in stdin().lock().lines() {
        let line = line?;
        let mut fields = line.split_ascii_whitespace();
        let (call, now) = (fields.next(), fields.next().and_then(|now| now.parse().ok()).map(Time));
        let said = match (call, now) {
            (Some("+"), Some(now)) => packet(|| fields.next()).map(|packet| arrive(&mut queue, packet, now)),
            (Some("-"), Some(now)) => Some(depart(&mut queue, now)),
            _ => None,
        };
        writeln!(out, "{}", said.ok_or_else(|| format!("not a call: {line}"))?)?;
    }
    Ok(())
}
