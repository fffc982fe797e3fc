//! The shortest form of cargo, for synthetic traffic whose sources switches tell of congestion: eight bytes, since no
//! cache holds what all packets carry.

use super::cargo::{Notice, Told};
use crate::ids::{Cycle, HostId, PortId, RouterId};
use serde::{Deserialize, Serialize};

/// Who sent a packet and when it left, or of a notification what it says.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sender {
    /// The host, or with [`NOTICE`] the router of the destination.
    who: u32,
    /// The cycle of the first grant, or what else a notification says.
    what: u32,
}

const _: () = assert!(size_of::<Sender>() == 8);

/// It is a notification. There are fewer hosts and routers than that.
const NOTICE: u32 = 1 << 31;

// What a notification says: the port in 16 bits, the feedback in six, and these.
const FEEDBACK: u32 = 16;
const ENDPOINT: u32 = 1 << 22;
const DIVERTED: u32 = 1 << 23;
/// Place of the class.
const CLASS: u32 = 24;

impl Sender {
    /// That of a packet which has not left.
    #[inline(always)]
    pub(crate) fn new(source: HostId) -> Self {
        Self { who: source.0, what: 0 }
    }

    /// That of a notification of a congestion point.
    pub(crate) fn of_notice(notice: &Notice) -> Option<Self> {
        let Notice { to: (router, port), class, told } = *notice;
        let Told::Feedback { feedback, endpoint, diverted } = told else { return None };
        let place = if endpoint { ENDPOINT } else { 0 } | if diverted { DIVERTED } else { 0 };
        let says = u32::from(feedback) << FEEDBACK | place | u32::from(class) << CLASS;
        debug_assert!(feedback < 64, "six bits");
        Some(Self { who: NOTICE | router.0, what: says | u32::from(port.0) })
    }

    /// The packet leaves its host.
    #[inline(always)]
    pub(crate) fn leave(&mut self, now: Cycle) {
        self.what = now;
    }

    /// The host that sent it.
    pub(crate) fn source(self) -> HostId {
        HostId(self.who)
    }

    /// The cycle in which it left.
    #[inline(always)]
    pub(crate) fn injected(self) -> Cycle {
        self.what
    }

    /// Is it a notification?
    pub(crate) fn tells(self) -> bool {
        self.who & NOTICE != 0
    }

    /// What it says if it is a notification.
    pub(crate) fn notice(self) -> Option<Notice> {
        let Self { who, what } = self;
        let told = Told::Feedback {
            feedback: (what >> FEEDBACK & 63) as u8,
            endpoint: what & ENDPOINT != 0,
            diverted: what & DIVERTED != 0,
        };
        let to = (RouterId(who & !NOTICE), PortId(what as u16));
        self.tells().then_some(Notice { to, class: (what >> CLASS) as u8, told })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let mut sender = Sender::new(HostId(7_000_000));
        sender.leave(Cycle::MAX);
        assert_eq!((sender.source(), sender.injected()), (HostId(7_000_000), Cycle::MAX));
        assert!(sender.notice().is_none());
        for (endpoint, diverted) in [(false, false), (true, false), (false, true)] {
            let told = Told::Feedback { feedback: 63, endpoint, diverted };
            let to = (RouterId(NOTICE - 1), PortId(u16::MAX));
            let notice = Notice { to, class: 255, told };
            assert_eq!(Sender::of_notice(&notice).and_then(Sender::notice), Some(notice));
        }
        let told = Told::Marked { diverted: false };
        let marked = Notice { to: (RouterId(1), PortId(2)), class: 0, told };
        assert!(Sender::of_notice(&marked).is_none());
    }
}
