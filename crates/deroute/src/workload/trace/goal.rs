//! GOAL, the text that LogGOPSim and ATLAHS compile.
//!
//! # What it says
//! `num_ranks N`, then for each rank `rank R {`, statements, `}`. A statement is `[label:] send Nb to P [tag T] [cpu C]
//! [nic K]`, `[label:] recv Nb from P [tag T] [cpu C] [nic K]` (`-1`: any), `[label:] calc NS [cpu C]`, `A requires B`
//! (A begins after the end of B) or `A irequires B` (after its beginning). Comments are `// ...` and `/* ... */`. What nothing
//! is required for begins at once; the order of the statements means nothing, but that of receives that
//! begin at the same time.
//!
//! # Source
//! Hoefler, Siebert and Lumsdaine 2009; Hoefler, Schneider and Lumsdaine 2010.
//!
//! # Limits
//! The number of the interface (`nic`) is read and not used.

use std::collections::HashMap;

use super::draft::{Draft, RankDraft};
use super::fault::Fault;
use super::files::Files;
use super::lines::{Lines, Words, number};
use crate::workload::actions::{Action, Then};
use crate::workload::matching::ANY;

/// Whether a file begins so.
pub(super) fn begins(_: &str, first: &[u8]) -> bool {
    let text = String::from_utf8_lossy(first);
    let mut words = text.lines().filter(|line| !line.trim_start().starts_with('/'));
    words.any(|line| line.trim_start().starts_with("num_ranks"))
}

/// A block while it is read.
struct Block {
    rank: RankDraft,
    labels: HashMap<Box<str>, u32>,
}

/// Reads a trace.
pub(super) fn read(files: &Files, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let mut lines = Lines::new(files.one()?);
    let mut block = None;
    let mut in_comment = false;
    let mut clean = String::new();
    while lines.next()? {
        uncommented(lines.text(), &mut in_comment, &mut clean);
        let place = lines.place();
        statement(&clean, place, &mut block, draft, &lines.file)
            .map_err(|message| lines.fault(message))?;
    }
    match block {
        None => Ok(()),
        Some(Block { rank, .. }) => {
            Err(lines.fault(format!("the block of rank {} has no end", rank.rank)))
        }
    }
}

/// A line without comments.
fn uncommented(text: &str, in_comment: &mut bool, clean: &mut String) {
    clean.clear();
    let mut rest = text;
    while !rest.is_empty() {
        if *in_comment {
            let Some((_, after)) = rest.split_once("*/") else { return };
            (*in_comment, rest) = (false, after);
            continue;
        }
        let Some(slash) = rest.find("//").into_iter().chain(rest.find("/*")).min() else {
            clean.push_str(rest);
            return;
        };
        clean.push_str(&rest[..slash]);
        clean.push(' ');
        if rest[slash..].starts_with("//") {
            return;
        }
        (*in_comment, rest) = (true, &rest[slash + 2..]);
    }
}

/// A line.
fn statement(
    text: &str,
    place: u32,
    block: &mut Option<Block>,
    draft: &mut Draft<'_>,
    file: &str,
) -> Result<(), String> {
    let mut words = Words::new(text);
    let Some(first) = words.next() else { return Ok(()) };
    match (first, block.is_some()) {
        ("num_ranks", false) if draft.ranks() == 0 => {
            draft.size(words.number("number of ranks")?)?;
        }
        ("rank", false) => {
            if draft.ranks() == 0 {
                return Err("a rank before num_ranks".into());
            }
            let rank = draft.begin(words.number("rank")?)?;
            if words.word("{")? != "{" {
                return Err("a block begins with {".into());
            }
            *block = Some(Block { rank, labels: HashMap::new() });
        }
        ("}", true) => {
            if let Some(Block { rank, .. }) = block.take() {
                draft.end(rank, file)?;
            }
        }
        (_, true) => {
            let Some(block) = block else { return Ok(()) };
            in_block(first, &mut words, place, block, draft)?;
        }
        _ => return Err(format!("{first:?} is neither num_ranks nor a rank")),
    }
    match words.next() {
        None => Ok(()),
        Some(more) => Err(format!("{more:?} is too much")),
    }
}

/// A statement of a rank.
fn in_block(
    first: &str,
    words: &mut Words<'_>,
    place: u32,
    block: &mut Block,
    draft: &Draft<'_>,
) -> Result<(), String> {
    if let Some(label) = first.strip_suffix(':') {
        if block.labels.insert(label.into(), block.rank.len()).is_some() {
            return Err(format!("label {label} is there twice"));
        }
        let what = words.word("an operation")?;
        return operation(what, words, place, block, draft);
    }
    if matches!(first, "send" | "recv" | "calc") {
        return operation(first, words, place, block, draft);
    }
    let begun = match words.word("requires or irequires")? {
        "requires" => false,
        "irequires" => true,
        other => return Err(format!("{other:?} is no statement")),
    };
    let find = |label: &str| {
        block.labels.get(label).copied().ok_or_else(|| format!("there is no label {label} so far"))
    };
    let (node, other) = (find(first)?, find(words.word("a label")?)?);
    if node == other {
        return Err(format!("{first} needs itself"));
    }
    block.rank.need(node, other, begun)
}

fn operation(
    what: &str,
    words: &mut Words<'_>,
    place: u32,
    block: &mut Block,
    draft: &Draft<'_>,
) -> Result<(), String> {
    if what == "calc" {
        let time: f64 = words.number::<u64>("time")? as f64;
        let stream = options(words)?.stream;
        let rank = &mut block.rank;
        let cycles = draft.amounts.cycles(rank.rank, &mut rank.clock, time)?;
        rank.push(Action::Compute { cycles, stream }, Then::Nothing, place)?;
        return Ok(());
    }
    let size = words.word("a size")?;
    let size = size.strip_suffix('b').ok_or_else(|| format!("{size:?} does not end with b"))?;
    let phits = draft.amounts.phits(number(size, "size")?)?;
    let (between, peer) = (words.word("to or from")?, words.word("a rank")?);
    let Options { tag, .. } = options(words)?;
    let action = match (what, between) {
        ("send", "to") => {
            let to = draft.rank(number(peer, "rank")?)?;
            if tag == ANY {
                return Err("a message has a tag".into());
            }
            Action::Send { to, phits, tag, comm: 0, synchronous: false }
        }
        ("recv", "from") => {
            let from = if peer == "-1" { ANY } else { draft.rank(number(peer, "rank")?)? };
            Action::Receive { from, tag, comm: 0 }
        }
        ("send" | "recv", _) => return Err(format!("{between:?} is not to or from")),
        _ => return Err(format!("{what:?} is no operation")),
    };
    block.rank.push(action, Then::Nothing, place)?;
    Ok(())
}

/// What may follow an operation.
struct Options {
    tag: u32,
    stream: u8,
}

fn options(words: &mut Words<'_>) -> Result<Options, String> {
    let mut found = Options { tag: 0, stream: 0 };
    while let Some(key) = words.next() {
        match key {
            "tag" => {
                let word = words.word("a tag")?;
                found.tag = if word == "-1" { ANY } else { number(word, "tag")? };
            }
            "cpu" => found.stream = words.number("cpu")?,
            "nic" => {
                words.number::<u8>("nic")?;
            }
            _ => return Err(format!("{key:?} is not tag, cpu or nic")),
        }
    }
    Ok(found)
}
