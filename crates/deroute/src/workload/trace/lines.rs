//! Text, line by line and word by word.

use std::io::{BufRead, Read};
use std::str::{FromStr, SplitAsciiWhitespace};

use super::fault::{Fault, Place};
use super::files::Input;

/// Most bytes of a line.
const LONGEST: u64 = 1 << 24;

/// The lines of a file.
pub(super) struct Lines<'a> {
    /// Its name.
    pub(super) file: String,
    /// Number of the line that was read last, from 1.
    pub(super) line: u64,
    bytes: Box<dyn BufRead + 'a>,
    text: Vec<u8>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(input: Input<'a>) -> Self {
        Self { file: input.name, line: 0, bytes: input.bytes, text: Vec::new() }
    }

    /// Reads the next line; false at the end. [`Lines::text`] has it then.
    pub(super) fn next(&mut self) -> Result<bool, Fault> {
        self.text.clear();
        let read = self.bytes.by_ref().take(LONGEST).read_until(b'\n', &mut self.text);
        let read = read.map_err(|error| self.fault(error.to_string()))?;
        self.line += 1;
        if read as u64 == LONGEST {
            return Err(self.fault("the line is too long"));
        }
        if std::str::from_utf8(&self.text).is_err() {
            return Err(self.fault("is no text"));
        }
        Ok(read > 0)
    }

    /// The line that was read last.
    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.text).unwrap_or_default().trim_end()
    }

    /// Something is wrong here.
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::at(&self.file, Place::Line(self.line), message)
    }

    /// Where this is, for a node.
    pub(super) fn place(&self) -> u32 {
        u32::try_from(self.line).unwrap_or(u32::MAX)
    }
}

/// The words of a line. What is wrong with them is said without the place.
pub(super) struct Words<'a>(SplitAsciiWhitespace<'a>);

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(text.split_ascii_whitespace())
    }

    /// The next word, if there is one.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    /// The next word, which has to be there.
    pub(super) fn word(&mut self, what: &str) -> Result<&'a str, String> {
        self.next().ok_or_else(|| format!("{what} is missing"))
    }

    /// No word is left.
    pub(super) fn end(&mut self) -> Result<(), String> {
        self.next().map_or(Ok(()), |word| Err(format!("{word:?} is more than belongs to the line")))
    }

    /// The next word as a number.
    pub(super) fn number<T: FromStr>(&mut self, what: &str) -> Result<T, String> {
        number(self.word(what)?, what)
    }
}

/// A word as a number.
pub(super) fn number<T: FromStr>(word: &str, what: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("{word:?} is no {what}"))
}
