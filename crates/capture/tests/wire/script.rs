//! Captures from a script: one packet a line, as a person would write down an exchange.

use super::{ACK, CLIENT, End, FIN, Frame, RST, SERVER, SYN, at, ethernet, ipv4};

/// Initial sequence numbers: the client's wraps around after 300 bytes.
pub const ISNS: [u32; 2] = [u32::MAX - 299, 9_000];

/// Frames of the lines `MILLISECONDS > FLAGS SEQ[+BYTES] [ack=N] [win=N] [mss=N] [ts=VALUE,ECHO]`: `>` from client to
/// server, `<` back; flags are of `SAFR`, `.` for none; numbers relative to the initial ones.
pub fn script(lines: &str) -> Vec<Frame> {
    lines.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(frame).collect()
}

fn frame(line: &str) -> Frame {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [time, side, flags, numbers, rest @ ..] = &words[..] else { panic!("{line}") };
    let time_us = (time.parse::<f64>().expect(line) * 1000.0).round() as u64;
    let back = usize::from(*side == "<");
    let ends: [End; 2] = if back == 1 { [SERVER, CLIENT] } else { [CLIENT, SERVER] };
    let (seq, bytes) = numbers.split_once('+').unwrap_or((numbers, "0"));
    let value = |name: &str| rest.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let number = |name: &str| value(name).map(|text| text.parse::<u32>().expect(line));
    let bits = flags.chars().map(|flag| match flag {
        'S' => SYN,
        'A' => ACK,
        'F' => FIN,
        'R' => RST,
        '.' => 0,
        other => panic!("flag {other} in {line}"),
    });
    let mut options = Vec::new();
    if let Some(mss) = number("mss") {
        options.extend([2, 4]);
        options.extend((mss as u16).to_be_bytes());
    }
    if let Some((value, echo)) = value("ts").and_then(|text| text.split_once(',')) {
        options.extend([1, 1, 8, 10]);
        for stamp in [value, echo] {
            options.extend(stamp.parse::<u32>().expect(line).to_be_bytes());
        }
    }
    let seq = ISNS[back].wrapping_add(seq.parse::<i64>().expect(line) as u32);
    let ack = number("ack").map_or(0, |ack| ISNS[1 - back].wrapping_add(ack));
    let mut segment = Vec::new();
    segment.extend(ends[0].1.to_be_bytes());
    segment.extend(ends[1].1.to_be_bytes());
    segment.extend(seq.to_be_bytes());
    segment.extend(ack.to_be_bytes());
    segment.extend([(5 + options.len() as u8 / 4) << 4, bits.sum()]);
    segment.extend((number("win").unwrap_or(65_535) as u16).to_be_bytes());
    segment.extend([0; 4]);
    segment.extend(options);
    segment.resize(segment.len() + bytes.parse::<usize>().expect(line), 7);
    at(time_us, ethernet(0x0800, &ipv4(ends[0].0, ends[1].0, 6, &segment, None, 0)))
}
