//! Any flow control, as the run asks for.

use super::messages::Messages;
use super::pause::Pause;
use super::{AnyCredits, Control, MessageRecord, PauseRecord};
use crate::ids::Cycle;
use crate::kernel::core::Core;
use crate::kernel::core::mail::Signal;
use crate::kernel::core::packet::BufferId;
use crate::kernel::core::ports::{Link, Output, OutputRequest, PortKind};
use crate::kernel::model::Model;
use serde::{Deserialize, Serialize};

/// Credits, or pauses.
#[derive(Serialize, Deserialize)]
pub(crate) struct AnyControl {
    credits: AnyCredits,
    pause: Option<Box<Pause>>,
    messages: Option<Box<Messages>>,
}

impl Control for AnyControl {
    fn new(model: &Model, core: &Core) -> Self {
        let pause = model.pause.is_some().then(|| Box::new(Pause::new(model, core)));
        let messages = model.messages.is_some().then(|| Box::new(Messages::new(model, core)));
        Self { credits: AnyCredits::new(model, core), pause, messages }
    }

    fn sweep(&self) {
        if let Some(pause) = &self.pause {
            pause.sweep();
        }
        if let Some(messages) = &self.messages {
            messages.sweep();
        }
    }

    #[inline(always)]
    fn line(&self, input: u32) -> u32 {
        self.pause.as_ref().map_or(0, |pause| pause.line(input))
    }

    #[inline(always)]
    fn has_room(model: &Model, output: &Output, credits: &[u32], request: OutputRequest) -> bool {
        if model.replaces_credits(output.class) {
            return true;
        }
        match model.cells(output.class) {
            Some(plan) => {
                let atomic = model.atomic && output.kind == PortKind::Link;
                let room = if atomic { plan.buffer } else { plan.charge(request.size.into()) };
                output.credits(credits, request.vc) >= room
            }
            None => AnyCredits::has_room(model, output, credits, request),
        }
    }

    #[inline(always)]
    fn take(
        &mut self,
        model: &Model,
        output: &mut Output,
        credits: &mut [u32],
        taken: (u32, u8, u32),
    ) {
        match &self.pause {
            Some(_) if model.replaces_credits(output.class) => {
                // Nothing limits them: what is free at the other end may be less than nothing.
                let (_, vc, size) = taken;
                output.queued += size;
                let free = output.credits_mut(credits, vc);
                *free = free.wrapping_sub(size);
            }
            _ => {
                let (port, vc, size) = taken;
                let size = model.charge(output.class, size);
                self.credits.take(model, output, credits, (port, vc, size));
            }
        }
    }

    #[inline(always)]
    fn release(&mut self, core: &mut Core, from: (u32, Link), vc: u8, size: u16) {
        if let Some(messages) = &mut self.messages
            && let Some(plan) = core.model.cells(core.inputs[from.0 as usize].class)
        {
            let phits = plan.charge(size.into());
            messages.release(core, (from.0, vc), phits);
            return;
        }
        match &mut self.pause {
            Some(pause) if core.model.replaces_credits(core.inputs[from.0 as usize].class) => {
                pause.release(from.0, vc, size);
            }
            _ => self.credits.release(core, from, vc, size),
        }
    }

    #[inline(always)]
    fn arrive(&mut self, core: &Core, to: BufferId, size: u16) -> bool {
        self.pause.as_mut().is_none_or(|pause| pause.arrive(core, to, size))
    }

    fn tell(&mut self, core: &mut Core, mut send: impl FnMut(&Core, u32, u32) -> Option<Cycle>) {
        if let Some(pause) = &mut self.pause {
            pause.tell(core, &mut send);
        }
        if let Some(messages) = &mut self.messages {
            messages.tell(core, send);
        }
    }

    fn due(&self, from: Cycle, to: Cycle) -> Cycle {
        let to = self.pause.as_ref().map_or(to, |pause| pause.due(from, to));
        self.messages.as_ref().map_or(to, |messages| messages.due(from, to))
    }

    fn apply(&mut self, model: &Model, output: &mut Output, credits: &mut [u32], signal: Signal) {
        self.credits.apply(model, output, credits, signal);
    }

    #[inline(always)]
    fn departed(&mut self, core: &mut Core, output: u32, request: OutputRequest) {
        let Core { outputs, credits, model, .. } = core;
        let state = &mut outputs[output as usize];
        if state.kind == PortKind::Link && model.replaces_credits(state.class) {
            state.queued -= u32::from(request.size);
            let free = state.credits_mut(credits, request.vc);
            *free = free.wrapping_add(request.size.into());
        }
    }

    fn has_stopped(&self, input: u32, vc: u8) -> bool {
        self.pause.as_ref().is_some_and(|pause| pause.has_stopped(input, vc))
    }

    fn shared_memory(&self) -> Option<(u32, u32)> {
        self.pause.as_ref()?.shared_memory()
    }

    fn buffered(&self, core: &Core, input: u32, vc: u8) -> Option<u32> {
        self.pause.as_ref().and_then(|pause| pause.buffered(core, input, vc))
    }

    fn owed(&self, input: u32, vc: u8) -> u32 {
        self.messages.as_ref().map_or(0, |messages| messages.owed(input, vc))
    }

    fn messages(&self, input: u32) -> Option<MessageRecord> {
        self.messages.as_ref().map(|messages| messages.record(input))
    }

    fn records(&self, input: u32) -> Vec<PauseRecord> {
        self.pause.as_ref().map_or(Vec::new(), |pause| pause.records(input))
    }

    #[inline]
    fn taken(&self, model: &Model, output: &Output, credits: &[u32], at: (u32, u8)) -> u32 {
        match &self.pause {
            Some(_) if model.replaces_credits(output.class) => {
                let buffer = model.classes[usize::from(output.class)].buffer;
                buffer.wrapping_sub(output.credits(credits, at.1))
            }
            _ => self.credits.taken(model, output, credits, at),
        }
    }
}
