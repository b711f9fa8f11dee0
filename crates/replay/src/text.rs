//! Numbers in sentences, as `mayfly.text.readable` writes them.

pub(crate) use units::grouped;

/// Characters of a stranger's name that are shown.
const SHOWN: usize = 80;

/// A stranger's text on one line: control characters escaped as Python escapes them, at most 80 characters.
pub(crate) fn printable(text: &str) -> String {
    let long = text.chars().count() > SHOWN;
    let dots = if long { "..." } else { "" };
    let shown = text.chars().take(if long { SHOWN - dots.len() } else { SHOWN });
    let mut line = String::new();
    for one in shown {
        // Behind another character a combining one is printable.
        let escaped = format!("a{one}");
        let is_escaped = !matches!(one, '"' | '\'' | '\\') && escaped.escape_debug().count() > 2;
        match (is_escaped, u32::from(one)) {
            (false, _) => line.push(one),
            (true, 0x09 | 0x0a | 0x0d) => line.extend(one.escape_default()),
            (true, code @ ..0x100) => line.push_str(&format!("\\x{code:02x}")),
            (true, code @ ..0x1_0000) => line.push_str(&format!("\\u{code:04x}")),
            (true, code) => line.push_str(&format!("\\U{code:08x}")),
        }
    }
    line + dots
}

/// To the next whole number, with commas.
pub(crate) fn whole(value: f64) -> String {
    grouped(value.round_ties_even() as u64)
}

/// Three significant digits, no exponent, of a number that is not negative.
fn digits(value: f64) -> String {
    if value == 0.0 || value >= 100.0 {
        return whole(value);
    }
    let mut places = 2;
    while places < 9 && value < [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6][places - 2] {
        places += 1;
    }
    format!("{value:.*}", if value < 10.0 { places } else { 1 })
}

/// Seconds as s, ms or µs.
pub(crate) fn time(seconds: f64) -> String {
    let scales = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    let fits = scales.into_iter().find(|&(scale, _)| seconds >= scale);
    let (scale, unit) = fits.unwrap_or(if seconds == 0.0 { scales[0] } else { scales[2] });
    format!("{} {unit}", digits(seconds / scale))
}

/// The shortest of six significant digits, with an exponent where the number is large (`%g`).
pub(crate) fn general(value: f64) -> String {
    let text = format!("{value:.5e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let short = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        return short(&format!("{value:.*}", (5 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", short(mantissa), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_stranger_is_on_one_line() {
        assert_eq!(printable("a\nb\0\u{9b}'é\u{301}\u{202e}\u{e0001}"), "a\\nb\\x00\\x9b'é\u{301}\\u202e\\U000e0001");
        assert_eq!(printable(&"x".repeat(80)), "x".repeat(80));
        assert_eq!(printable(&"x".repeat(81)), "x".repeat(77) + "...");
    }

    #[test]
    fn numbers_read_as_python_writes_them() {
        assert_eq!([0.0907, 3.944, 55.788, 1234.5, 0.0].map(digits), ["0.0907", "3.94", "55.8", "1,234", "0"]);
        assert_eq!([0.0907, 3.944, 0.0, 1_467_844.0].map(time), ["90.7 ms", "3.94 s", "0 s", "1,467,844 s"]);
        assert_eq!(
            [63_072_001.0, 0.0, 0.5, 1e-5, 123_456.0].map(general),
            ["6.3072e+07", "0", "0.5", "1e-05", "123456"]
        );
    }
}
