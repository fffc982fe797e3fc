//! Pauses in numbers: what PAUSE and priority flow control have in common, and the headroom that
//! they need.
//!
//! After a receiver has decided that its sender be silent, it still gets what fits into the time
//! until that takes effect: its frame waits for the longest packet on the way back, takes time on
//! the wire, travels, and is obeyed after the response time of the sender, whose last packet travels
//! as well. And a packet that has begun ends. Frames of other VCs may be ahead of it.

use super::memory::{self, SharedBufferSpec, SharedPlan};
use super::{LinkClass, Setting};
use crate::ids::Cycle;
use crate::spec::{Quantity, SpecError};

/// Limits of a buffer, in phits: of one VC, or of all of a port where the whole link is paused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PauseLimits {
    /// What it holds; a packet that does not fit is lost.
    pub(crate) capacity: u32,
    /// The sender is told to be silent when it holds more than this, and to go on when it holds no
    /// more than that.
    pub(crate) xoff: u32,
    pub(crate) xon: u32,
}

/// Pauses on the links of a network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PausePlan {
    /// By link class, and of the links of hosts.
    pub(crate) limits: Vec<PauseLimits>,
    pub(crate) host: Option<PauseLimits>,
    /// All VCs of a link together.
    pub(crate) whole_link: bool,
    /// A packet may find no room.
    pub(crate) lossy: bool,
    /// Phits of a pause frame on the link that it takes.
    pub(crate) frame: u32,
    /// Cycles from the arrival of a frame to its effect.
    pub(crate) response: Cycle,
    /// Cycles that a pause lasts; until further notice if absent.
    pub(crate) duration: Option<Cycle>,
    /// What a buffer takes beyond its `xoff` is memory that all ports of a switch share.
    pub(crate) shared: Option<SharedPlan>,
    /// VCs that are never silenced.
    pub(crate) exempt: u64,
}

/// What the files of PAUSE and PFC have in common.
pub(super) struct Pauses<'a> {
    /// Path of the table.
    pub(super) path: &'static str,
    pub(super) xoff: &'a Option<Quantity>,
    pub(super) xon: &'a Option<Quantity>,
    pub(super) response: &'a Option<Quantity>,
    pub(super) phy_delay: &'a Quantity,
    pub(super) frame: &'a Quantity,
    pub(super) quanta: Option<u32>,
    pub(super) lossy: bool,
    pub(super) whole_link: bool,
    pub(super) shared: &'a Option<SharedBufferSpec>,
}

/// Response limits of IEEE 802.1Qbb in quanta, by the rate in Gb/s.
const RESPONSE_QUANTA: [(f64, f64); 5] =
    [(10.0, 60.0), (25.0, 80.0), (40.0, 118.0), (100.0, 394.0), (400.0, 905.0)];

/// Bits of a quantum of time.
const QUANTUM: f64 = 512.0;

impl Pauses<'_> {
    /// Resolves the limits of every buffer.
    ///
    /// # Errors
    /// Limits that do not fit the buffers, or by which a packet could be lost.
    pub(super) fn plan(&self, setting: &Setting<'_>) -> Result<PausePlan, SpecError> {
        let scale = setting.scale;
        let frame = scale.phits_up(&self.at("frame"), self.frame)?;
        let frame =
            u32::try_from(frame).ok().filter(|frame| *frame < 1 << 16).ok_or_else(|| {
                let message = format!("{frame} phits are no pause frame");
                SpecError::new(self.at("frame"), message).choices(["\"84 B\""])
            })?;
        let duration = self.quanta.map(|quanta| self.duration(quanta, setting)).transpose()?;
        let phy = scale.interval(&self.at("phy_delay"), self.phy_delay, 0)?;
        let shared = self.shared.as_ref();
        let shared = shared.map(|spec| memory::plan(spec, &self.at("shared_buffer"), &scale));
        let mut plan = PausePlan {
            limits: Vec::new(),
            host: None,
            whole_link: self.whole_link,
            lossy: self.lossy,
            frame,
            // Both delays of the physical layer come between a frame and its effect.
            response: self.response(setting)? + 2 * phy,
            duration,
            shared: shared.transpose()?,
            exempt: 0,
        };
        for (name, link) in setting.names.iter().zip(setting.links) {
            let path = format!("network.links.{name}.buffer");
            plan.limits.push(self.limits(path, link, &plan, setting)?);
        }
        if let Some(link) = &setting.host {
            let path = "network.nic.link.buffer".to_owned();
            plan.host = Some(self.limits(path, link, &plan, setting)?);
        }
        Ok(plan)
    }

    fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// Cycles from the arrival of a frame to its effect, without the physical layer.
    fn response(&self, setting: &Setting<'_>) -> Result<Cycle, SpecError> {
        let scale = setting.scale;
        if let Some(time) = self.response {
            return scale.interval(&self.at("response"), time, 0);
        }
        let full = 8.0 * scale.phit_bytes() / scale.cycle_ns();
        let known = RESPONSE_QUANTA.into_iter().find(|(rate, _)| *rate >= full);
        let (rate, quanta) = known.unwrap_or((400.0, 905.0));
        Ok((quanta * QUANTUM / rate / scale.cycle_ns()).ceil() as Cycle)
    }

    fn duration(&self, quanta: u32, setting: &Setting<'_>) -> Result<Cycle, SpecError> {
        if !(1..=65_535).contains(&quanta) {
            let message = format!("{quanta} is no pause time");
            return Err(SpecError::new(self.at("quanta"), message).choices(["1 to 65535"]));
        }
        let bits_per_cycle = 8.0 * setting.scale.phit_bytes();
        let cycles = (f64::from(quanta) * QUANTUM / bits_per_cycle).round();
        Ok((cycles as Cycle).max(1))
    }

    /// A pause is renewed at half time by a frame that may have to wait for so many cycles.
    fn renewed_in_time(
        &self,
        plan: &PausePlan,
        wait: Cycle,
        setting: &Setting<'_>,
    ) -> Result<(), SpecError> {
        let (Some(quanta), Some(duration)) = (self.quanta, plan.duration) else { return Ok(()) };
        if self.lossy || duration / 2 >= wait {
            return Ok(());
        }
        let message = format!(
            "{quanta} quanta ({duration} cycles) may be over before they are renewed at half time: the frame \
             may wait for {wait} cycles"
        );
        let bits_per_cycle = 8.0 * setting.scale.phit_bytes();
        let least = (f64::from(2 * wait + 1) * bits_per_cycle / QUANTUM).ceil();
        let choices = [format!("at least {least}"), "lossy = true".into()];
        Err(SpecError::new(self.at("quanta"), message).choices(choices))
    }

    /// The limits of the buffers behind the links of a class; `path` is that of their size.
    fn limits(
        &self,
        path: String,
        link: &LinkClass,
        plan: &PausePlan,
        setting: &Setting<'_>,
    ) -> Result<PauseLimits, SpecError> {
        let capacity = link.buffer * if self.whole_link { u32::from(link.vcs) } else { 1 };
        let largest = u32::from(setting.largest);
        let on_its_way = (2 * link.latency + plan.response).div_ceil(link.period);
        // Frames of the other VCs may be ahead, and one of its own that is longer than any packet.
        let vcs = if self.whole_link { 1 } else { u32::from(link.vcs) };
        let ahead = (vcs - 1) * plan.frame + plan.frame.saturating_sub(largest);
        let headroom = 2 * largest + plan.frame + ahead + on_its_way;
        self.renewed_in_time(plan, (largest + ahead) * link.period, setting)?;
        let bytes = |phits: u32| f64::from(phits) * setting.scale.phit_bytes();
        let xoff = match self.xoff {
            Some(limit) => setting.scale.buffer(&self.at("xoff"), limit)?,
            None if capacity > headroom => capacity - headroom,
            None if self.lossy => 1,
            None => {
                let message = format!(
                    "{capacity} phits ({} B) are too few: {headroom} ({} B) must stay free for \
                     what is on its way when the sender is told to be silent",
                    bytes(capacity),
                    bytes(headroom)
                );
                let choices = [format!("more than {headroom} phits"), "lossy = true".into()];
                return Err(SpecError::new(path, message).choices(choices));
            }
        };
        if xoff + headroom > capacity && !self.lossy {
            let missing = xoff + headroom - capacity;
            let message = format!(
                "{xoff} phits leave too little of the {capacity} phits of {path}: {missing} phits \
                 ({} B) are missing for what is on its way when the sender is told to be silent",
                bytes(missing)
            );
            let most = format!("at most {} phits", capacity.saturating_sub(headroom));
            let choices = [most, "a larger buffer".into(), "lossy = true".into()];
            return Err(SpecError::new(self.at("xoff"), message).choices(choices));
        }
        if plan.shared.is_some() && xoff + largest > capacity {
            let message = format!(
                "{xoff} phits leave too little of the {capacity} phits of {path}: with memory that ports \
                 share, a packet that is not to have any of it still needs room"
            );
            let choices = [format!("at most {} phits", capacity.saturating_sub(largest))];
            return Err(SpecError::new(self.at("xoff"), message).choices(choices));
        }
        let xon = match self.xon {
            Some(limit) => setting.scale.buffer(&self.at("xon"), limit)?,
            None => xoff.saturating_sub(2 * largest),
        };
        if xon > xoff {
            let message = format!("{xon} phits are more than xoff = {xoff}");
            let choices = [format!("at most {xoff} phits")];
            return Err(SpecError::new(self.at("xon"), message).choices(choices));
        }
        Ok(PauseLimits { capacity, xoff, xon })
    }
}
