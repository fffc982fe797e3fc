//! When a rank does what, if its job keeps that.

use super::Activity;
use crate::ids::Cycle;
use serde::{Deserialize, Serialize};

/// The activities of a rank, one after the other.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Course(Vec<(Cycle, u8)>);

impl Course {
    /// In place of an activity: what came then was not kept.
    pub const NOT_KEPT: u8 = Activity::COUNT as u8;

    /// Most bytes of a course of so many activities.
    pub fn bytes(most: usize) -> u64 {
        (2 * (most + 1) * size_of::<(Cycle, u8)>()) as u64
    }

    /// From a cycle on it does this; of so many activities the rest is not kept.
    pub(super) fn note(&mut self, since: Cycle, what: Activity, most: usize) {
        let what = if self.0.len() < most { what as u8 } else { Self::NOT_KEPT };
        if self.0.len() <= most && self.0.last().is_none_or(|(_, last)| *last != what) {
            self.0.push((since, what));
        }
    }

    /// When each activity began, and which it was.
    pub fn activities(&self) -> impl Iterator<Item = (Cycle, u8)> {
        self.0.iter().copied()
    }
}
