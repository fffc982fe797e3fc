//! When ports are looked at.

use super::port::{DIRECTIONS, Port};
use crate::ids::Cycle;
use crate::kernel::core::port_set::PortSet;
use crate::kernel::core::wheel::Wheel;
use serde::{Deserialize, Serialize};

/// The looks at the ports of a partition that are due.
#[derive(Serialize, Deserialize)]
pub(super) struct Looks {
    /// Ports that are to be looked at in this cycle.
    now: PortSet,
    later: Wheel<u32>,
}

impl Looks {
    /// None yet, at so many ports, at most `horizon` cycles ahead.
    pub(super) fn new(ports: usize, horizon: Cycle) -> Self {
        Self { now: PortSet::new(ports), later: Wheel::new(horizon) }
    }

    /// A port is to be looked at: in this cycle, or in a later one unless it is to be earlier anyway.
    #[inline(always)]
    pub(super) fn plan(&mut self, state: &mut Port, (port, at): (u32, Cycle), now: Cycle) {
        if at <= now {
            self.now.insert(port);
            return;
        }
        // The end of a long silence is looked for again on the way.
        let at = at.min(now + self.later.horizon());
        // Where one is due in this cycle, that look sees to what comes next.
        if at < state.wakeup_at {
            state.wakeup_at = at;
            self.later.push(at, port);
        }
    }

    /// Lists the ports that are to be looked at in this cycle, by where they lead.
    #[inline(always)]
    pub(super) fn list(
        &mut self,
        ports: &mut [Port],
        now: Cycle,
        due: &mut [Vec<u32>; DIRECTIONS],
    ) {
        self.later.drain(now, |events| {
            for &port in events {
                let state = &mut ports[port as usize];
                // Or it has been looked at since, and there is another plan.
                if state.wakeup_at == now {
                    state.wakeup_at = Cycle::MAX;
                    due[state.owner.leads_to()].push(port);
                }
            }
        });
        self.now.drain(|port| {
            due[ports[port as usize].owner.leads_to()].push(port);
        });
    }

    /// The first cycle of `from..to` in which a port is looked at, or `to`.
    pub(super) fn next(&self, from: Cycle, to: Cycle) -> Cycle {
        if self.now.is_drained() { self.later.next(from, to) } else { from }
    }

    /// Something of each cache line.
    pub(super) fn lines(&self) -> impl Iterator<Item = u32> {
        self.later.lines(|port| *port)
    }
}
