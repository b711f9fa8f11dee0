//! Numbers in sentences, as `mayfly.text.readable` of the Python package writes them.

/// Seconds as s, ms or µs, three significant digits: `90.7 ms`.
pub(crate) fn time(seconds: f64) -> String {
    let scales = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs")];
    let fits = scales.iter().find(|(scale, _)| seconds.abs() >= *scale);
    let &(scale, unit) = fits.unwrap_or(if seconds == 0.0 { &scales[0] } else { &scales[2] });
    format!("{} {unit}", digits(seconds / scale))
}

/// Three significant digits, no exponent.
fn digits(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || size >= 100.0 {
        return grouped(value.round_ties_even() as i64);
    }
    let places =
        [1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6].iter().position(|&least| size >= least).map_or(9, |at| 2 + at);
    format!("{value:.*}", if size < 10.0 { places } else { 1 })
}

/// A whole number with a comma between thousands.
pub(crate) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::from(if number < 0 { "-" } else { "" });
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Per cent, as many digits as say something: `0.38 %`, `65 %`.
pub(crate) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    if !(share > 0.0 && share < 0.1) {
        return format!("{percent:.0} %");
    }
    // Two significant digits, rounded before they are counted.
    let scientific = format!("{percent:.1e}");
    let exponent: i32 = scientific.rsplit_once('e').and_then(|(_, text)| text.parse().ok()).unwrap_or(0);
    let text = format!("{percent:.*}", usize::try_from(1 - exponent).unwrap_or(0));
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{short} %")
}

/// Per cent with one digit behind the point: `96.1 %`.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Names as an enumeration: `a, b and c`.
pub(crate) fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// The same with a capital at the begin.
pub(crate) fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |first| first.to_uppercase().chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        let texts = [0.0907, 3.944, 55.788, 1234.5, 0.0, 0.0000035, 0.0999, 99.96].map(time);
        assert_eq!(texts, ["90.7 ms", "3.94 s", "55.8 s", "1,234 s", "0 s", "3.50 µs", "99.9 ms", "100.0 s"]);
    }

    #[test]
    fn shares_have_the_digits_that_say_something() {
        let texts = [0.0, 0.0038, 0.004, 0.051, 0.0996, 0.65, 0.05].map(share);
        assert_eq!(texts, ["0 %", "0.38 %", "0.4 %", "5.1 %", "10 %", "65 %", "5 %"]);
    }

    #[test]
    fn names_are_enumerated() {
        assert_eq!(listed(&["cake", "pie", "efd"]), "cake, pie and efd");
        assert_eq!((capital("cake does"), grouped(-1_234_567)), ("Cake does".into(), "-1,234,567".into()));
    }
}
