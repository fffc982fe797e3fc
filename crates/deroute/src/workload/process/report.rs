//! What a rank does, in words.

use super::Process;
use crate::workload::Job;
use crate::workload::matching::{ANY, Waiter};

/// What a rank does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Something that ends by itself.
    Busy(&'static str),
    /// It waits for others.
    Waits(String),
    /// It has ended.
    Ended,
}

impl Process {
    /// Only a message could make it go on.
    pub fn is_stuck(&self) -> bool {
        self.timers.is_empty() && self.todo.is_empty()
    }

    /// What it does.
    pub fn doing(&self, job: &Job) -> Doing {
        if self.is_done() {
            return Doing::Ended;
        }
        if !self.begun {
            return Doing::Busy("has not begun");
        }
        if !self.timers.is_empty() {
            return Doing::Busy("computes");
        }
        let posted = self.matching.waiting().map(|(pattern, waiter)| {
            let from = match pattern.from {
                ANY => "any rank".to_owned(),
                from => format!("rank {from}"),
            };
            let tag = match (waiter, pattern.tag) {
                (Waiter::Node(_), ANY) => " with any tag".to_owned(),
                (Waiter::Node(_), tag) => format!(" with tag {tag}"),
                _ => String::new(),
            };
            (waiter, format!("waits for a message from {from}{tag}"))
        });
        let coming = self.matching.coming().map(|(from, waiter)| {
            (waiter, format!("waits for the rest of a message from rank {from}"))
        });
        let asked = self.asked.iter().map(|((to, _), (waiter, ..))| {
            (*waiter, format!("waits until rank {to} receives what it sends"))
        });
        let all = posted.chain(coming).chain(asked).map(|(waiter, what)| {
            let node = self.node_of(waiter);
            let held = node.is_none_or(|id| !job.program.node(self.rank, id).in_background());
            (!held, node, what)
        });
        let Some((_, node, what)) = all.min() else { return Doing::Busy("goes on") };
        let place = node.map_or(String::new(), |node| format!(" ({})", job.place(self.rank, node)));
        Doing::Waits(what + &place)
    }

    /// The node that something belongs to.
    pub(super) fn node_of(&self, waiter: Waiter) -> Option<u32> {
        match waiter {
            Waiter::Start => None,
            Waiter::Node(node) => Some(node),
            Waiter::Lane { call, .. } | Waiter::Computes { call, .. } | Waiter::Sent { call } => {
                self.calls.node(call)
            }
        }
    }
}
