//! Exchange by a traffic matrix.
//!
//! # What it does
//! Every rank sends the messages of its row, in the order of the list, and then waits for those of its
//! column.
//!
//! # Source
//! McDonald et al., SC 2019, 6.2: the exchange is driven by a matrix.
//!
//! # Parameters
//! `messages`: sender, receiver, size; or `file`, with one of them in each line.
//!
//! # Limits
//! A rank sends nothing to itself.
//!
//! # Example
//! ```toml
//! steps = [{ exchange = { messages = [[0, 1, "4 KB"], [1, 0, "4 KB"]] } }]
//! ```

use super::{Op, Site, Step, spec};
use crate::spec::SpecError;

struct Exchange {
    /// First message of each rank in `sends`, and the total; the same for `waits`.
    send_bases: Vec<u32>,
    wait_bases: Vec<u32>,
    /// Receiver and phits.
    sends: Vec<(u32, u32)>,
    /// Sender.
    waits: Vec<u32>,
}

pub(super) fn build(
    spec: &spec::ExchangeSpec,
    site: &Site<'_>,
) -> Result<Box<dyn Step>, SpecError> {
    if let Some(file) = &spec.file {
        let message = format!("{file:?}: the engine reads no files");
        return Err(SpecError::new(format!("{}.file", site.path), message).choices(["messages"]));
    }
    let mut messages = Vec::new();
    for (i, (from, to, size)) in spec.messages.iter().enumerate() {
        for (place, rank) in [(0, from), (1, to)] {
            if *rank >= site.ranks {
                let message = format!("there is no rank {rank}");
                let path = format!("{}.messages[{i}][{place}]", site.path);
                let choices = [format!("0 to {}", site.ranks - 1)];
                return Err(SpecError::new(path, message).choices(choices));
            }
        }
        if from == to {
            let message = format!("rank {from} sends to itself");
            return Err(SpecError::new(format!("{}.messages[{i}]", site.path), message));
        }
        messages.push((*from, *to, site.phits(&format!("messages[{i}][2]"), size)?));
    }
    if messages.is_empty() {
        let message = "an empty list exchanges nothing";
        return Err(SpecError::new(format!("{}.messages", site.path), message));
    }
    let bases = |key: fn(&(u32, u32, u32)) -> u32| {
        let mut bases = vec![0; site.ranks as usize + 1];
        messages.iter().for_each(|message| bases[key(message) as usize + 1] += 1);
        (0..site.ranks as usize).for_each(|rank| bases[rank + 1] += bases[rank]);
        bases
    };
    let (send_bases, wait_bases) = (bases(|m| m.0), bases(|m| m.1));
    let mut by_sender = messages.clone();
    by_sender.sort_by_key(|message| message.0);
    messages.sort_by_key(|message| message.1);
    Ok(Box::new(Exchange {
        send_bases,
        wait_bases,
        sends: by_sender.iter().map(|&(_, to, phits)| (to, phits)).collect(),
        waits: messages.iter().map(|message| message.0).collect(),
    }))
}

impl Step for Exchange {
    fn name(&self) -> &'static str {
        "exchange"
    }

    fn op(&self, rank: u32, index: u32) -> Option<Op> {
        let of = |bases: &[u32]| (bases[rank as usize], bases[rank as usize + 1]);
        let (first, end) = of(&self.send_bases);
        if index < end - first {
            let (to, phits) = self.sends[(first + index) as usize];
            return Some(Op::Send { to, phits, tag: 0 });
        }
        let index = index - (end - first);
        let (first, end) = of(&self.wait_bases);
        (index < end - first)
            .then(|| Op::Wait { from: self.waits[(first + index) as usize], tag: 0 })
    }

    fn tags(&self) -> u32 {
        1
    }

    fn uniform(&self) -> bool {
        false
    }
}
