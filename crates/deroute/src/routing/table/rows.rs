//! Rules as text: a rule in each line, its cells named by the first.

use std::io::{BufRead, BufReader, Cursor, Read};

use base64::engine::general_purpose::STANDARD;
use base64::read::DecoderReader;
use flate2::read::GzDecoder;

use super::TableSpec;
use super::addresses::Pattern;
use crate::spec::SpecError;

/// Names of the columns. `router` and `ports` have to be there.
pub(super) const COLUMNS: [&str; 10] = [
    "router",
    "in_port",
    "destination",
    "destination_mask",
    "source",
    "source_mask",
    "priority",
    "condition",
    "condition_port",
    "ports",
];

/// Characters of a line: a rule may have 1024 ports. What is packed may be a line without an end.
const LONGEST_LINE: u64 = 1 << 16;

/// A port, with the VC if the rule names one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Exit {
    pub(super) port: u16,
    pub(super) vc: Option<u8>,
}

/// What a rule does with packets to the destinations that it is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Action {
    pub(super) in_port: Option<u16>,
    pub(super) source: Option<Pattern>,
    /// It counts while this port is not paused.
    pub(super) condition: Option<u16>,
    /// A hash of the packet's ends chooses among several.
    pub(super) exits: Vec<Exit>,
}

impl Action {
    /// Does it hold for every packet to a destination?
    pub(super) fn always(&self) -> bool {
        self.in_port.is_none() && self.source.is_none() && self.condition.is_none()
    }
}

/// A rule.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) router: u32,
    /// Where it stands, counted from 1.
    pub(super) line: u32,
    pub(super) destination: Option<Pattern>,
    pub(super) priority: u32,
    pub(super) action: Action,
}

impl Rule {
    /// What it is called in messages.
    pub(super) fn name(&self) -> String {
        format!("router {}, rule on line {}", self.router, self.line)
    }

    /// Does some packet fit both?
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let ports = [self.action.in_port, other.action.in_port];
        if let [Some(one), Some(two)] = ports
            && one != two
        {
            return false;
        }
        let common = |one: Option<Pattern>, two: Option<Pattern>| match (one, two) {
            (Some(one), Some(two)) => one.overlaps(two),
            _ => true,
        };
        common(self.destination, other.destination)
            && common(self.action.source, other.action.source)
    }
}

/// Where the rules stand in the spec.
pub(super) fn place(spec: &TableSpec) -> &'static str {
    if spec.packed.is_some() { "routing.table.packed" } else { "routing.table.rules" }
}

/// The rules of a spec, one after the other.
pub(super) struct Rows<'a> {
    text: Box<dyn BufRead + 'a>,
    at: &'static str,
    line: u32,
    /// Which cell each column is.
    cells: [Option<usize>; COLUMNS.len()],
    count: usize,
    row: String,
}

impl<'a> Rows<'a> {
    /// Reads the names of the columns.
    ///
    /// # Errors
    /// Neither rules nor packed ones, and columns that are unknown or missing.
    pub(super) fn new(spec: &'a TableSpec) -> Result<Self, SpecError> {
        let text: Box<dyn BufRead + 'a> = match (&spec.rules, &spec.packed) {
            (Some(rules), None) => Box::new(Cursor::new(rules)),
            (None, Some(packed)) => {
                let bytes = DecoderReader::new(packed.as_bytes(), &STANDARD);
                Box::new(BufReader::with_capacity(1 << 16, GzDecoder::new(bytes)))
            }
            _ => {
                let message = "needs either rules or packed ones";
                return Err(SpecError::new("routing.table", message).choices(["rules", "packed"]));
            }
        };
        let cells = [None; COLUMNS.len()];
        let mut rows = Self { text, at: place(spec), line: 0, cells, count: 0, row: String::new() };
        if !rows.advance()? {
            return Err(SpecError::new(rows.at, "there are no rules").choices(COLUMNS));
        }
        rows.name_columns()?;
        Ok(rows)
    }

    fn name_columns(&mut self) -> Result<(), SpecError> {
        for (cell, name) in self.row.split(',').enumerate() {
            self.count = cell + 1;
            let Some(column) = COLUMNS.iter().position(|known| *known == name.trim()) else {
                let message = format!("line {}: {:?} is no column", self.line, name.trim());
                return Err(SpecError::new(self.at, message).choices(COLUMNS));
            };
            if self.cells[column].replace(cell).is_some() {
                let message = format!("line {}: two columns are called {name}", self.line);
                return Err(SpecError::new(self.at, message));
            }
        }
        for needed in ["router", "ports"] {
            let column = COLUMNS.iter().position(|known| *known == needed);
            if column.is_some_and(|column| self.cells[column].is_none()) {
                let message = format!("line {}: there is no column {needed:?}", self.line);
                return Err(SpecError::new(self.at, message).choices(COLUMNS));
            }
        }
        Ok(())
    }

    /// Reads the next line that is not blank and no comment; false at the end.
    fn advance(&mut self) -> Result<bool, SpecError> {
        loop {
            self.row.clear();
            self.line += 1;
            let read = self.text.by_ref().take(LONGEST_LINE).read_line(&mut self.row);
            let read = read.map_err(|error| {
                let message = format!("breaks off after line {}: {error}", self.line - 1);
                SpecError::new(self.at, message)
            })?;
            if read == 0 {
                return Ok(false);
            }
            if !self.row.ends_with('\n') {
                let message = format!("line {} has no end: the rules break off there", self.line);
                return Err(SpecError::new(self.at, message));
            }
            let text = self.row.trim();
            if !text.is_empty() && !text.starts_with('#') {
                return Ok(true);
            }
        }
    }

    /// The next rule.
    ///
    /// # Errors
    /// A line that is no rule.
    pub(super) fn next(&mut self) -> Result<Option<Rule>, SpecError> {
        if !self.advance()? {
            return Ok(None);
        }
        let mut cells = [""; 16];
        let mut found = 0;
        for cell in self.row.split(',') {
            if found < cells.len() {
                cells[found] = cell.trim();
            }
            found += 1;
        }
        if found != self.count {
            let message = format!("has {found} cells of {}: {:?}", self.count, self.row.trim());
            return Err(self.wrong(&message));
        }
        self.rule(&cells).map(Some)
    }

    fn rule(&self, cells: &[&str]) -> Result<Rule, SpecError> {
        let cell = |column: usize| self.cells[column].map_or("", |cell| cells[cell]);
        let number = |column: usize, most: u32| -> Result<Option<u32>, SpecError> {
            let text = cell(column);
            let fits = |value: &u32| *value <= most;
            match text.parse().ok().filter(fits) {
                _ if text.is_empty() => Ok(None),
                Some(value) => Ok(Some(value)),
                None => Err(self.wrong(&format!("{text:?} is no {}", COLUMNS[column]))),
            }
        };
        let Some(router) = number(0, u32::MAX)? else {
            return Err(self.wrong("has no router"));
        };
        let port = |column| Ok(number(column, u16::MAX.into())?.map(|port| port as u16));
        let condition = match (cell(7), port(8)?) {
            ("", None) => None,
            ("not-paused", Some(port)) => Some(port),
            ("not-paused", None) => return Err(self.wrong("its condition names no port")),
            ("", Some(_)) => return Err(self.wrong("a port without a condition")),
            (other, _) => {
                let message = format!("the condition {other:?} is none of a table");
                return Err(self.wrong(&message).choices(["not-paused", "none"]));
            }
        };
        let action = Action {
            in_port: port(1)?,
            source: self.pattern((cell(4), cell(5)), "source")?,
            condition,
            exits: self.exits(cell(9))?,
        };
        Ok(Rule {
            router,
            line: self.line,
            destination: self.pattern((cell(2), cell(3)), "destination")?,
            priority: number(6, u32::MAX)?.unwrap_or(0),
            action,
        })
    }

    fn exits(&self, text: &str) -> Result<Vec<Exit>, SpecError> {
        let exit = |word: &str| {
            let (port, vc) = match word.split_once(':') {
                Some((port, vc)) => (port, Some(vc.parse().ok().filter(|vc| *vc < 16)?)),
                None => (word, None),
            };
            Some(Exit { port: port.parse().ok()?, vc })
        };
        let exits: Vec<Exit> = text
            .split_whitespace()
            .map(|word| {
                let message = format!("{word:?} is neither a port nor a port with a VC");
                let choices = ["a port such as 7", "a port and a VC up to 15, such as 7:1"];
                exit(word).ok_or_else(|| self.wrong(&message).choices(choices))
            })
            .collect::<Result<_, _>>()?;
        if exits.is_empty() {
            return Err(self.wrong("leads to no port"));
        }
        Ok(exits)
    }

    fn pattern(&self, (value, mask): (&str, &str), of: &str) -> Result<Option<Pattern>, SpecError> {
        if value.is_empty() {
            return match mask {
                "" => Ok(None),
                _ => Err(self.wrong(&format!("a mask without a {of}"))),
            };
        }
        let Some(number) = address(value) else {
            return Err(self.wrong(&format!("{value:?} is no address of a {of}")));
        };
        let Some(bits) = (if mask.is_empty() { Some(u64::MAX) } else { address(mask) }) else {
            return Err(self.wrong(&format!("{mask:?} is no mask of a {of}")));
        };
        if number & !bits != 0 {
            let message = format!("{value} has ones where its mask {mask} has none");
            return Err(self.wrong(&message));
        }
        Ok(Some(Pattern { value: number, mask: bits }))
    }

    /// An error in the line that has been read.
    fn wrong(&self, message: &str) -> SpecError {
        let router = self.row.split(',').nth(self.cells[0].unwrap_or(0)).unwrap_or("?").trim();
        let place = format!("router {router}, rule on line {}", self.line);
        SpecError::new(self.at, format!("{place}: {message}"))
    }
}

/// A number, or a MAC address.
fn address(text: &str) -> Option<u64> {
    if text.contains(':') {
        let octets = text.split(':').map(|octet| {
            let whole = octet.len() == 2 && octet.bytes().all(|digit| digit.is_ascii_hexdigit());
            if whole { u64::from_str_radix(octet, 16).ok() } else { None }
        });
        let octets: Option<Vec<u64>> = octets.collect();
        return octets
            .filter(|octets| octets.len() == 6)
            .map(|octets| octets.iter().fold(0, |address, octet| address << 8 | octet));
    }
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
