//! Pauses in numbers: what PAUSE and priority flow control have in common, and the headroom that
//! they need.
//!
//! After a receiver has decided that its sender be silent, it still gets what fits into the time
//! until that takes effect: its frame waits for the longest packet on the way back, takes time on
//! the wire, travels, and is obeyed after the response time of the sender, whose last packet travels
//! as well. And a packet that has begun ends. Frames of other VCs may be ahead of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::memory::{self, SharedBufferSpec, SharedPlan};
use super::{LinkClass, Setting};
use crate::ids::Cycle;
use crate::spec::{Quantity, SpecError};

/// Parameters of PAUSE, whose limits are those of a port, and of priority flow control, where they are those of a VC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PauseParameters {
    /// The sender is told to be silent when the buffer holds more than this: phits, or an amount of
    /// data. Default: what leaves the headroom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xoff: Option<Quantity>,
    /// It is told to go on when the buffer holds no more than this. Default: two of the largest
    /// packets less than `xoff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xon: Option<Quantity>,
    /// Time from the arrival of a frame to its effect: cycles or a time. Default: the limit of IEEE
    /// 802.1Qbb.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Quantity>,
    /// Delay of the physical layer at each end: cycles or a time. Default 0.
    pub phy_delay: Quantity,
    /// A pause frame on the wire: phits, or an amount of data. Default `"84 B"`.
    pub frame: Quantity,
    /// Quanta of 512 bit times that a pause lasts, 1 to 65535. Default: until further notice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quanta: Option<u32>,
    /// Packets may be lost: they are counted. Default `false`.
    pub lossy: bool,
    /// Memory that the ports of a switch share beyond `xoff`. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_buffer: Option<SharedBufferSpec>,
}

impl Default for PauseParameters {
    fn default() -> Self {
        Self {
            xoff: None,
            xon: None,
            response: None,
            phy_delay: Quantity::Number(0),
            frame: "84 B".into(),
            quanta: None,
            lossy: false,
            shared_buffer: None,
        }
    }
}

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

/// Pauses on the links of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PausePlan {
    pub(crate) limits: PauseLimits,
    /// All VCs of a link together.
    pub(crate) whole_link: bool,
    /// A packet may find no room.
    pub(crate) lossy: bool,
    /// Phits of the header that is left of it, if one is.
    pub(crate) trim: Option<u16>,
    /// Phits of a pause frame on the link that it takes.
    pub(crate) frame: u32,
    /// Cycles from the arrival of a frame to its effect.
    pub(crate) response: Cycle,
    /// Cycles that a pause lasts; until further notice if absent.
    pub(crate) duration: Option<Cycle>,
    /// What a buffer takes beyond its `xoff` is memory that all ports of a switch share.
    pub(crate) shared: Option<SharedPlan>,
}

impl PausePlan {
    /// Phits of the buffers of a port with so many VCs.
    pub(crate) fn memory(&self, vcs: u8) -> u64 {
        let buffers = if self.whole_link { 1 } else { vcs };
        u64::from(self.limits.capacity) * u64::from(buffers)
    }
}

/// The parameters of a flow control for the links of a class, to be resolved.
pub(super) struct Pauses<'a> {
    spec: &'a PauseParameters,
    /// Path of the table.
    path: String,
    whole_link: bool,
}

/// Response limits of IEEE 802.1Qbb in quanta, by the rate in Gb/s.
const RESPONSE_QUANTA: [(f64, f64); 5] =
    [(10.0, 60.0), (25.0, 80.0), (40.0, 118.0), (100.0, 394.0), (400.0, 905.0)];

/// Bits of a quantum of time.
const QUANTUM: f64 = 512.0;

impl<'a> Pauses<'a> {
    /// Those at the key `name` of the flow control.
    pub(super) fn new(
        spec: &'a PauseParameters,
        (name, whole_link): (&str, bool),
        setting: &Setting<'_>,
    ) -> Self {
        Self { spec, path: format!("{}.{name}", setting.path), whole_link }
    }

    /// Resolves the limits of every buffer.
    ///
    /// # Errors
    /// Limits that do not fit the buffers, or by which a packet could be lost.
    pub(super) fn plan(&self, setting: &Setting<'_>) -> Result<PausePlan, SpecError> {
        let (scale, spec) = (setting.scale, self.spec);
        let frame = scale.phits_up(&self.at("frame"), &spec.frame)?;
        let frame =
            u32::try_from(frame).ok().filter(|frame| *frame < 1 << 16).ok_or_else(|| {
                let message = format!("{frame} phits are no pause frame");
                SpecError::new(self.at("frame"), message).choices(["\"84 B\""])
            })?;
        let duration = spec.quanta.map(|quanta| self.duration(quanta, setting)).transpose()?;
        let phy = scale.interval(&self.at("phy_delay"), &spec.phy_delay, 0)?;
        let shared = spec.shared_buffer.as_ref();
        let shared = shared.map(|spec| memory::plan(spec, &self.at("shared_buffer"), &scale));
        let plan = PausePlan {
            limits: PauseLimits::default(),
            whole_link: self.whole_link,
            lossy: spec.lossy,
            trim: None,
            frame,
            // Both delays of the physical layer come between a frame and its effect.
            response: self.response(setting)? + 2 * phy,
            duration,
            shared: shared.transpose()?,
        };
        let Some(link) = &setting.link else { return Ok(plan) };
        let path = format!("{}.buffer", setting.at);
        Ok(PausePlan { limits: self.limits(path, link, &plan, setting)?, ..plan })
    }

    fn at(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    /// Bits that a link of the class carries in a cycle.
    fn bits_per_cycle(setting: &Setting<'_>) -> f64 {
        let period = setting.link.as_ref().map_or(1, |link| link.period);
        8.0 * setting.scale.phit_bytes() / f64::from(period)
    }

    /// Cycles from the arrival of a frame to its effect, without the physical layer.
    fn response(&self, setting: &Setting<'_>) -> Result<Cycle, SpecError> {
        let scale = setting.scale;
        if let Some(time) = &self.spec.response {
            return scale.interval(&self.at("response"), time, 0);
        }
        let full = Self::bits_per_cycle(setting) / scale.cycle_ns();
        let known = RESPONSE_QUANTA.into_iter().find(|(rate, _)| *rate >= full);
        let (rate, quanta) = known.unwrap_or((400.0, 905.0));
        Ok((quanta * QUANTUM / rate / scale.cycle_ns()).ceil() as Cycle)
    }

    fn duration(&self, quanta: u32, setting: &Setting<'_>) -> Result<Cycle, SpecError> {
        if !(1..=65_535).contains(&quanta) {
            let message = format!("{quanta} is no pause time");
            return Err(SpecError::new(self.at("quanta"), message).choices(["1 to 65535"]));
        }
        let cycles = (f64::from(quanta) * QUANTUM / Self::bits_per_cycle(setting)).round();
        Ok((cycles as Cycle).max(1))
    }

    /// A pause is renewed at half time by a frame that may have to wait for so many cycles.
    fn renewed_in_time(
        &self,
        plan: &PausePlan,
        wait: Cycle,
        setting: &Setting<'_>,
    ) -> Result<(), SpecError> {
        let (Some(quanta), Some(duration)) = (self.spec.quanta, plan.duration) else {
            return Ok(());
        };
        if self.spec.lossy || duration / 2 >= wait {
            return Ok(());
        }
        let message = format!(
            "{quanta} quanta ({duration} cycles) may be over before they are renewed at half time: the frame \
             may wait for {wait} cycles"
        );
        let least =
            ((2.0 * f64::from(wait) + 1.0) * Self::bits_per_cycle(setting) / QUANTUM).ceil();
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
        let buffers = if self.whole_link { u32::from(link.vcs) } else { 1 };
        let capacity = link.buffer.checked_mul(buffers).ok_or_else(|| {
            let message = format!("{} phits for each of {buffers} VCs are too many", link.buffer);
            SpecError::new(path.as_str(), message)
                .choices([format!("at most {}", u32::MAX / buffers)])
        })?;
        let largest = u32::from(setting.largest);
        let on_its_way = (2 * link.latency + plan.response).div_ceil(link.period);
        // Frames of the other VCs may be ahead, and one of its own that is longer than any packet.
        let vcs = if self.whole_link { 1 } else { u32::from(link.vcs) };
        let ahead = (vcs - 1) * plan.frame + plan.frame.saturating_sub(largest);
        let headroom = 2 * largest + plan.frame + ahead + on_its_way;
        self.renewed_in_time(plan, (largest + ahead).saturating_mul(link.period), setting)?;
        let bytes = |phits: u32| f64::from(phits) * setting.scale.phit_bytes();
        let xoff = match &self.spec.xoff {
            Some(limit) => setting.scale.buffer(&self.at("xoff"), limit)?,
            None if capacity > headroom => capacity - headroom,
            None if self.spec.lossy => 1,
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
        if xoff + headroom > capacity && !self.spec.lossy {
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
        let xon = match &self.spec.xon {
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
