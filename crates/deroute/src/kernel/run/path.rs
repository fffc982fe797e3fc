//! The critical path of a job, followed back from its end.
//!
//! Each time that a rank went on, something had ended: a computation, or a message on its way, which had begun when its
//! rank, or the sender, went on before. So the times between add up to that of the job, and nothing on the path
//! could have been shorter without ending the job earlier, or letting another path be the longest.

use std::cmp::Reverse;

use crate::ids::Cycle;
use crate::kernel::hosts::Worker;
use crate::outcome::{CriticalPath, JobArrays, PathPart};
use crate::workload::Job;
use crate::workload::actions::Action;
use crate::workload::process::{Begun, Cause, Causes, Kind, NO_NODE};

/// Parts of the path that are told in words.
const TOLD: usize = 10;

/// What the time of a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Compute,
    Send,
    Network,
    Handshake,
    Wait,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Send => "send",
            Self::Network => "network",
            Self::Handshake => "handshake",
            Self::Wait => "wait",
        }
    }
}

/// A part of the path.
struct Part {
    what: What,
    /// The rank that it was for, and the one that began it.
    rank: u32,
    from: u32,
    begin: Cycle,
    end: Cycle,
    phits: u32,
    /// What began it in the program of `from`.
    node: u32,
}

/// The critical path of a job that has ended, if it is asked for; its parts are added to the arrays. None if the job
/// ended with a message that no rank was waiting for.
pub(super) fn outcome(
    job: &Job,
    workers: &[Option<&Worker>],
    last: Cycle,
    arrays: &mut JobArrays,
) -> Option<CriticalPath> {
    let causes: Vec<&Causes> =
        workers.iter().map(|worker| (*worker)?.process.causes.as_deref()).collect::<Option<_>>()?;
    let ended = |rank: &usize| workers[*rank].is_some_and(|worker| worker.ended == Some(last));
    let mut at = (0..causes.len()).find(ended).and_then(|rank| Some((rank, causes[rank].ended()?)));
    at?;
    let mut parts = Vec::new();
    while let Some((rank, occasion)) = at {
        let (end, cause) = causes[rank].occasion(occasion)?;
        let (what, from, begun, phits) = match cause {
            Cause::Start => break,
            Cause::Timer(begun) => (timed(job, rank, begun), rank, begun, 0),
            Cause::Left(begun) => (What::Send, rank, begun, 0),
            Cause::Came(from, kind, sequence) => {
                let from = from as usize;
                let sent = causes[from].sent(rank as u32, kind, sequence)?;
                let data = matches!(kind, Kind::Eager | Kind::Data);
                let what = if data { What::Network } else { What::Handshake };
                (what, from, sent.begun, sent.phits)
            }
        };
        let (begin, _) = causes[from].occasion(begun.occasion)?;
        if begin < end {
            let (rank, from, node) = (rank as u32, from as u32, begun.node);
            parts.push(Part { what, rank, from, begin, end, phits, node });
        }
        at = Some((from, begun.occasion));
    }
    parts.reverse();
    Some(summary(job, &parts, arrays))
}

/// What a rank did whose timer ended.
fn timed(job: &Job, rank: usize, begun: Begun) -> What {
    let action = |node| job.program.node(rank as u32, node).action;
    match (begun.node != NO_NODE).then(|| action(begun.node)) {
        Some(Action::Idle { .. }) => What::Wait,
        _ => What::Compute,
    }
}

fn summary(job: &Job, parts: &[Part], arrays: &mut JobArrays) -> CriticalPath {
    let since = |cycle: Cycle| u64::from(cycle - job.start);
    for part in parts {
        arrays.path_what.push(part.what as u8);
        arrays.path_rank.push(part.rank);
        arrays.path_from.push(part.from);
        arrays.path_begin.push(since(part.begin));
        arrays.path_end.push(since(part.end));
    }
    let sum = |what: What| {
        let own = parts.iter().filter(|part| part.what == what);
        own.map(|part| u64::from(part.end - part.begin)).sum()
    };
    let mut longest: Vec<&Part> = parts.iter().collect();
    longest.sort_by_key(|part| Reverse(part.end - part.begin));
    let told = longest.into_iter().take(TOLD).map(|part| PathPart {
        what: part.what.name().to_owned(),
        rank: part.rank,
        from: part.from,
        begin: since(part.begin),
        cycles: u64::from(part.end - part.begin),
        phits: part.phits,
        call: match part.node {
            NO_NODE => String::new(),
            node => job.place(part.from, node),
        },
    });
    CriticalPath {
        compute: sum(What::Compute),
        send: sum(What::Send),
        network: sum(What::Network),
        handshake: sum(What::Handshake),
        wait: sum(What::Wait),
        parts: parts.len() as u64,
        longest: told.collect(),
    }
}
