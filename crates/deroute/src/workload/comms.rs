//! The communicators of a job.

/// Ranks of the members of each communicator of a job.
#[derive(Debug, Default)]
pub struct Comms(Vec<Option<Box<[u32]>>>);

impl Comms {
    /// All ranks, as they are.
    pub fn world() -> Self {
        Self(vec![None])
    }

    /// Adds a communicator; returns its index.
    pub fn add(&mut self, members: Box<[u32]>) -> u32 {
        self.0.push(Some(members));
        self.0.len() as u32 - 1
    }

    /// Number of communicators.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The rank of a member.
    pub fn rank(&self, comm: u32, member: u32) -> u32 {
        self.0[comm as usize].as_ref().map_or(member, |members| members[member as usize])
    }

    /// The members of a communicator; all ranks as they are if there are none.
    pub fn members(&self, comm: u32) -> Option<&[u32]> {
        self.0[comm as usize].as_deref()
    }
}
