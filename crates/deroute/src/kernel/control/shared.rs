//! Memory that the VCs of a port share beyond their own buffers (DAMQ).
//!
//! The credits of a VC are what it may take at the moment: what is left of its reserve, and of the shared
//! memory. So what one VC takes or gives back changes the credits of all.
//!
//! # Source
//! Tamir and Frazier, IEEE Trans. Computers 1992, with a reserve for each VC.

use crate::kernel::core::ports::Output;
use crate::kernel::model::Model;
use serde::{Deserialize, Serialize};

/// What has been taken at the other ends of the links.
#[derive(Serialize, Deserialize)]
pub(crate) struct Sharing {
    /// Phits that each VC of each output has taken, `vcs` for each output.
    used: Vec<u32>,
    vcs: usize,
}

impl Sharing {
    /// Nothing is taken behind so many outputs; none if no VCs share.
    pub(crate) fn new(model: &Model, outputs: usize) -> Option<Box<Self>> {
        let vcs = usize::from(model.most_vcs());
        model.shares().then(|| Box::new(Self { used: vec![0; outputs * vcs], vcs }))
    }

    /// Phits that a VC of an output has taken.
    pub(crate) fn used(&self, port: u32, vc: u8) -> u32 {
        self.used[port as usize * self.vcs + usize::from(vc)]
    }

    /// A VC of `output`, which is that of `port`, has another `used` phits. Writes the credits of all its
    /// VCs; `more` is `Core::credits`.
    #[cold]
    #[inline(never)]
    pub(crate) fn use_of(
        &mut self,
        model: &Model,
        output: &mut Output,
        more: &mut [u32],
        (port, vc, used): (u32, u8, u32),
    ) {
        let class = model.classes[usize::from(output.class)];
        let reserve = class.buffer - class.shared;
        let first = port as usize * self.vcs;
        self.used[first + usize::from(vc)] = used;
        let all = &self.used[first..first + usize::from(output.vcs)];
        let borrowed: u32 = all.iter().map(|used| used.saturating_sub(reserve)).sum();
        let pool = class.shared - borrowed;
        for (vc, used) in (0..).zip(all) {
            *output.credits_mut(more, vc) = reserve.saturating_sub(*used) + pool;
        }
    }
}
