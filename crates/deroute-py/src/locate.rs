//! Where a key stands in a TOML file.

use pyo3::prelude::*;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One step of a path: a key of a table or an index of an array.
#[derive(FromPyObject)]
pub enum Step {
    /// Index of an array.
    Index(usize),
    /// Key of a table.
    Key(String),
}

/// Line (from 1) of the deepest existing part of `path` in `text`, and how many steps of the path
/// exist; `None` if `text` is not TOML or not even the first step exists.
#[pyfunction]
pub fn locate(text: &str, path: Vec<Step>) -> Option<(usize, usize)> {
    let document = DeTable::parse(text).ok()?;
    let mut offset = None;
    let mut found = 0;
    let mut place = Place::Table(document.get_ref());
    for step in &path {
        let Some((start, next)) = place.enter(step) else { break };
        offset = Some(start);
        found += 1;
        place = next;
    }
    let line = text[..offset?].bytes().filter(|byte| *byte == b'\n').count() + 1;
    Some((line, found))
}

/// The whole document or a value within it.
enum Place<'a> {
    Table(&'a DeTable<'a>),
    Value(&'a DeValue<'a>),
}

impl<'a> Place<'a> {
    /// Byte offset of the entry that `step` names, and the entry itself.
    fn enter(&self, step: &Step) -> Option<(usize, Place<'a>)> {
        let table = match self {
            Place::Table(table) => Some(*table),
            Place::Value(DeValue::Table(table)) => Some(table),
            Place::Value(_) => None,
        };
        match (self, table, step) {
            (_, Some(table), Step::Key(key)) => {
                let (name, value) = table.iter().find(|(name, _)| name.get_ref() == key)?;
                Some((name.span().start, Place::Value(value.get_ref())))
            }
            (Place::Value(DeValue::Array(array)), _, Step::Index(index)) => {
                let value: &Spanned<DeValue<'a>> = array.get(*index)?;
                Some((value.span().start, Place::Value(value.get_ref())))
            }
            _ => None,
        }
    }
}
