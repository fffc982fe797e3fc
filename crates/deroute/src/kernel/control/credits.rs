//! Credits: the sender counts the phits that are free at the other end, and the receiver returns those of a
//! packet that leaves.

use super::Control;
use super::shared::Sharing;
use crate::kernel::core::Core;
use crate::kernel::core::mail::Signal;
use crate::kernel::core::ports::{Link, Output, OutputRequest};
use crate::kernel::model::Model;
use serde::{Deserialize, Serialize};

/// Every VC has a buffer of its own.
#[derive(Serialize, Deserialize)]
pub(crate) struct Credits;

impl Control for Credits {
    fn new(_model: &Model, _core: &Core) -> Self {
        Self
    }

    #[inline(always)]
    fn has_room(model: &Model, output: &Output, credits: &[u32], request: OutputRequest) -> bool {
        output.credits(credits, request.vc) >= model.room(output.class, request.size)
    }

    #[inline(always)]
    fn take(
        &mut self,
        _model: &Model,
        output: &mut Output,
        credits: &mut [u32],
        (_, vc, size): (u32, u8, u32),
    ) {
        output.queued += size;
        *output.credits_mut(credits, vc) -= size;
    }

    #[inline(always)]
    fn release(&mut self, core: &mut Core, (_, upstream): (u32, Link), vc: u8, size: u16) {
        core.send_signal(upstream, vc, u32::from(size));
    }

    #[inline(always)]
    fn apply(&mut self, _model: &Model, output: &mut Output, credits: &mut [u32], signal: Signal) {
        *output.credits_mut(credits, signal.vc()) += signal.content();
        output.queued -= signal.content();
    }

    #[inline]
    fn taken(&self, model: &Model, output: &Output, credits: &[u32], (_, vc): (u32, u8)) -> u32 {
        model.classes[usize::from(output.class)].buffer - output.credits(credits, vc)
    }
}

/// VCs may share memory beyond their own buffers.
#[derive(Serialize, Deserialize)]
pub(crate) struct AnyCredits {
    sharing: Option<Box<Sharing>>,
}

impl Control for AnyCredits {
    fn new(model: &Model, core: &Core) -> Self {
        Self { sharing: Sharing::new(model, core.outputs.len()) }
    }

    #[inline(always)]
    fn has_room(model: &Model, output: &Output, credits: &[u32], request: OutputRequest) -> bool {
        Credits::has_room(model, output, credits, request)
    }

    #[inline(always)]
    fn take(
        &mut self,
        model: &Model,
        output: &mut Output,
        credits: &mut [u32],
        (port, vc, size): (u32, u8, u32),
    ) {
        Credits.take(model, output, credits, (port, vc, size));
        if let Some(sharing) = &mut self.sharing
            && size > 0
        {
            let used = sharing.used(port, vc) + size;
            sharing.use_of(model, output, credits, (port, vc, used));
        }
    }

    #[inline(always)]
    fn release(&mut self, core: &mut Core, from: (u32, Link), vc: u8, size: u16) {
        Credits.release(core, from, vc, size);
    }

    #[inline(always)]
    fn apply(&mut self, model: &Model, output: &mut Output, credits: &mut [u32], signal: Signal) {
        Credits.apply(model, output, credits, signal);
        if let Some(sharing) = &mut self.sharing {
            let (port, vc) = (signal.port(), signal.vc());
            let used = sharing.used(port, vc) - signal.content();
            sharing.use_of(model, output, credits, (port, vc, used));
        }
    }

    #[inline]
    fn taken(&self, model: &Model, output: &Output, credits: &[u32], at: (u32, u8)) -> u32 {
        match &self.sharing {
            Some(sharing) => sharing.used(at.0, at.1),
            None => Credits.taken(model, output, credits, at),
        }
    }
}
