//! How messages travel within a host, and within nodes: ranks that a network of their own joins.

use super::spec;
use crate::ids::Cycle;
use crate::spec::{Scale, SpecError};

/// How messages travel within a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// Cycles until the first phit is there.
    pub latency: Cycle,
    /// Phits that follow each other in a cycle.
    pub phits_per_cycle: u32,
}

impl Within {
    /// Resolves what is within a host.
    pub(super) fn build(
        spec: &spec::WithinHost,
        scale: &Scale,
        path: &str,
    ) -> Result<Self, SpecError> {
        let latency = scale.interval(&format!("{path}.latency"), &spec.latency, 1)?;
        if spec.phits_per_cycle == 0 {
            let path = format!("{path}.phits_per_cycle");
            return Err(SpecError::new(path, "no phit would ever come").choices(["at least 1"]));
        }
        Ok(Self { latency, phits_per_cycle: spec.phits_per_cycle })
    }

    /// Cycles until so many phits are there.
    pub fn time(&self, phits: u32) -> Cycle {
        self.latency.saturating_add(phits.div_ceil(self.phits_per_cycle))
    }
}

/// Nodes of a job, and the network within each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Consecutive ranks of a node.
    ranks: u32,
    /// Cycles until the first phit of a message is there.
    pub latency: Cycle,
    /// Phits, and the cycles that they take.
    pace: (u128, u128),
}

impl Node {
    /// Resolves the nodes of a job.
    pub(super) fn build(
        job: &spec::Job,
        scale: &Scale,
        path: &str,
    ) -> Result<Option<Self>, SpecError> {
        let Some(spec) = &job.node else { return Ok(None) };
        let wrong = |key: &str, message: &str, choices: String| {
            Err(SpecError::new(format!("{path}.{key}"), message).choices([choices]))
        };
        let each = job.ranks_per_host.max(1);
        if spec.ranks < 2 || !spec.ranks.is_multiple_of(each) {
            let message = format!("{} ranks are no node of whole hosts", spec.ranks);
            let choices = if each == 1 {
                "at least 2".to_owned()
            } else {
                format!("a multiple of {each}, the ranks of a host")
            };
            return wrong("node.ranks", &message, choices);
        }
        if job.within_host != spec::WithinHost::default() {
            let message = "messages between ranks of a host take the network of their node";
            return wrong("within_host", message, "nothing beside `node`".to_owned());
        }
        let pace = scale.pace(&format!("{path}.node.bandwidth"), &spec.bandwidth)?;
        let latency = scale.interval(&format!("{path}.node.latency"), &spec.latency, 1)?;
        Ok(Some(Self { ranks: spec.ranks, latency, pace }))
    }

    /// Are these ranks of one node?
    pub fn joins(&self, rank: u32, other: u32) -> bool {
        rank / self.ranks == other / self.ranks
    }

    /// Cycles that so many phits take, at least 1.
    pub fn time(&self, phits: u32) -> Cycle {
        let (above, below) = self.pace;
        let cycles = u128::from(phits).saturating_mul(below).div_ceil(above);
        Cycle::try_from(cycles).unwrap_or(Cycle::MAX).max(1)
    }
}
