//! Destinations that are drawn by weight, for each source by its own.

use super::{Pattern, Setting};
use crate::ids::HostId;
use crate::rng::Stream;
use crate::spec::SpecError;

/// One entry of a traffic matrix.
pub(super) struct Entry {
    pub(super) source: u32,
    pub(super) destination: u32,
    pub(super) weight: u64,
    /// Which one it is in the list of the spec.
    pub(super) place: usize,
}

/// The destinations of every host and their weights.
pub(super) struct Weighted {
    /// First destination of each host, and the number of all.
    firsts: Vec<u32>,
    destinations: Vec<u32>,
    /// Sum of the weights of a host's destinations up to each of them.
    sums: Vec<u64>,
}

impl Weighted {
    /// The pattern with these entries, whose hosts exist; an entry of weight 0 is none. Their order does
    /// not matter.
    ///
    /// # Errors
    /// At the `path_of` an entry from a host to itself, of one that stands twice, or with which the weights
    /// of a host exceed 64 bits; at `path` if nobody would send.
    pub(super) fn build(
        mut entries: Vec<Entry>,
        path: &str,
        path_of: &dyn Fn(&Entry) -> String,
        setting: &Setting<'_>,
    ) -> Result<Box<dyn Pattern>, SpecError> {
        entries.retain(|entry| entry.weight > 0);
        if entries.is_empty() {
            return Err(SpecError::new(path, "no host would send anything"));
        }
        // Stable: of equal pairs the second one is the mistake.
        entries.sort_by_key(|entry| (entry.source, entry.destination));
        let hosts = setting.topology.hosts();
        let mut all = Self { firsts: Vec::new(), destinations: Vec::new(), sums: Vec::new() };
        let mut rest = entries.iter().peekable();
        for host in 0..hosts {
            all.firsts.push(all.destinations.len() as u32);
            let mut sum = 0u64;
            while let Some(entry) = rest.next_if(|entry| entry.source == host) {
                sum = all.add(entry, sum).map_err(|what| SpecError::new(path_of(entry), what))?;
            }
        }
        all.firsts.push(all.destinations.len() as u32);
        Ok(Box::new(all))
    }

    /// Adds a destination of the last host, the sum of whose weights was `sum`, and returns the new one, or
    /// what is wrong.
    fn add(&mut self, entry: &Entry, sum: u64) -> Result<u64, String> {
        let Entry { source, destination, weight, .. } = entry;
        if source == destination {
            return Err(format!(
                "host {source} would send to itself: what stays there is no traffic"
            ));
        }
        if sum > 0 && self.destinations.last() == Some(destination) {
            return Err(format!("from host {source} to host {destination} there are two entries"));
        }
        let too_much = || format!("{weight} makes the weights of host {source} exceed 2^64");
        let sum = sum.checked_add(*weight).ok_or_else(too_much)?;
        self.destinations.push(*destination);
        self.sums.push(sum);
        Ok(sum)
    }

    fn range(&self, source: HostId) -> std::ops::Range<usize> {
        self.firsts[source.index()] as usize..self.firsts[source.index() + 1] as usize
    }
}

impl Pattern for Weighted {
    fn draw(&self, source: HostId, rng: &mut Stream) -> HostId {
        let range = self.range(source);
        let (sums, destinations) = (&self.sums[range.clone()], &self.destinations[range]);
        let chosen = match sums {
            [_] => 0,
            [.., total] => {
                let ticket = rng.below_u64(*total);
                sums.partition_point(|sum| *sum <= ticket)
            }
            [] => return source,
        };
        HostId(destinations[chosen])
    }

    fn sends(&self, source: HostId) -> bool {
        !self.range(source).is_empty()
    }

    fn fan_out(&self) -> Option<u32> {
        self.firsts.windows(2).map(|ends| ends[1] - ends[0]).max()
    }
}
