//! Reading of text from left to right.

/// What is left of a text.
#[derive(Clone, Copy)]
pub(crate) struct Scan<'a>(pub(crate) &'a str);

impl<'a> Scan<'a> {
    /// Takes `word`, if the text begins with it.
    pub(crate) fn word(&mut self, word: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(word)?;
        Some(())
    }

    /// Takes the first of `words` that the text begins with, and returns its place.
    pub(crate) fn one_of(&mut self, words: &[&str]) -> Option<usize> {
        words.iter().position(|word| self.word(word).is_some())
    }

    /// Takes all blanks, at least `least`.
    pub(crate) fn blanks(&mut self, least: usize) -> Option<()> {
        let rest = self.0.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
        let taken = self.0.len() - rest.len();
        self.0 = rest;
        (taken >= least).then_some(())
    }

    /// Takes the digits that come next, at least `least` and at most `most`.
    pub(crate) fn digits(&mut self, least: usize, most: usize) -> Option<&'a str> {
        let count = self.0.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(count);
        self.0 = rest;
        (count >= least).then_some(digits)
    }

    /// A whole number of 1 to 13 digits.
    pub(crate) fn whole(&mut self) -> Option<u64> {
        self.digits(1, 13)?.parse().ok()
    }

    /// What is taken by `inner`, or nothing.
    pub(crate) fn optional<T>(&mut self, inner: impl FnOnce(&mut Scan<'a>) -> Option<T>) -> Option<T> {
        let mut ahead = *self;
        let found = inner(&mut ahead)?;
        *self = ahead;
        Some(found)
    }

    /// Nothing, if all is taken.
    pub(crate) fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}
