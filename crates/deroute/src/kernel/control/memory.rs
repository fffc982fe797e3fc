//! Memory that the ports of a switch share beyond the buffers of their own.
//!
//! What a buffer has of it changes at the end of a cycle only: first all give back what they have no more, then each,
//! in ascending order, takes what it needs or is told to be silent. From then on it takes nothing: what arrives is in its
//! headroom, which is its own.

use crate::control::{PauseLimits, Threshold};
use crate::kernel::core::Core;
use crate::kernel::model::Model;
use serde::{Deserialize, Serialize};

/// The shared memory of a switch.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pool {
    size: u32,
    used: u32,
    /// Most that was in use at once.
    most: u32,
}

/// The shared memory of all switches of a partition.
#[derive(Serialize, Deserialize)]
pub(super) struct Memory {
    /// By router.
    pools: Vec<Pool>,
    /// Phits that each VC of each input has of it, or all VCs as the first of an input.
    charged: Vec<u32>,
}

impl Memory {
    /// That of the switches of a partition, whose inputs have so many VCs in all; none if they have none.
    pub(super) fn new(model: &Model, core: &Core, vcs: usize) -> Option<Box<Self>> {
        model.pause.as_ref()?.shared.as_ref()?;
        let sizes = core.routers.iter().map(|router| model.shared_memory(router.id).unwrap_or(0));
        let pools = sizes.map(|size| Pool { size, used: 0, most: 0 }).collect();
        Some(Box::new(Self { pools, charged: vec![0; vcs] }))
    }

    /// Bytes of so many routers and VCs.
    pub(super) fn bytes(routers: u64, vcs: u64) -> u64 {
        routers * size_of::<Pool>() as u64 + vcs * size_of::<u32>() as u64
    }

    /// Phits that a buffer has of it.
    pub(super) fn charged(&self, buffer: usize) -> u32 {
        self.charged[buffer]
    }

    /// A buffer gives back what it has no more, when it holds so many phits more than its own.
    pub(super) fn settle(&mut self, router: u32, buffer: usize, over: u32) {
        let charged = &mut self.charged[buffer];
        self.pools[router as usize].used -= charged.saturating_sub(over);
        *charged = over.min(*charged);
    }

    /// Is the sender of a buffer to be silent that holds so many phits, and has or has not been told to be? If not, the
    /// buffer takes what it needs.
    pub(super) fn stops(
        &mut self,
        (router, buffer): (u32, usize),
        (limits, threshold): (&PauseLimits, Threshold),
        (held, stopped): (u32, bool),
    ) -> bool {
        let (pool, charged) = (&mut self.pools[router as usize], &mut self.charged[buffer]);
        let over = held.saturating_sub(limits.xoff);
        if if stopped { held <= limits.xon } else { over <= *charged } {
            return false;
        }
        let used = pool.used - *charged + over;
        let more = if stopped { limits.xoff - limits.xon } else { 0 };
        let fits = pool
            .size
            .checked_sub(used)
            .is_some_and(|free| u64::from(over) + u64::from(more) <= threshold.of(free));
        if fits {
            (pool.used, *charged) = (used, over);
            pool.most = pool.most.max(used);
        }
        !fits
    }

    /// Most phits that a switch shares, and most that were in use at once in one.
    pub(super) fn most(&self) -> (u32, u32) {
        let most = |of: fn(&Pool) -> u32| self.pools.iter().map(of).max().unwrap_or(0);
        (most(|pool| pool.size), most(|pool| pool.most))
    }
}
