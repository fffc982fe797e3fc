//! A routing whose draws follow from the entropy of a packet: the same ones each time that it is asked for a head.

use std::collections::BTreeMap;

use crate::ids::{RouterId, VcId};
use crate::rng::{Owner, Stream, mix};
use crate::routing::{
    Follows, Header, Hop, Memo, Message, Plan, Queues, RouterView, Routing, Wrapper,
};
use crate::state::state;

/// A queue at an input: router, port, VC and class.
type Place = (u32, u16, u8, u8);

/// Draws from the hash of a flow and its entropy, where a packet has one.
struct ByEntropy {
    inner: Box<dyn Routing>,
    seed: u64,
    /// Hashes of heads that may be reconsidered, which the memo forgets once the routing remembers something else.
    heads: Option<BTreeMap<Place, u32>>,
}

/// A plan whose paths follow from entropies, in a run with this seed.
pub(crate) fn follow_entropy(plan: Plan, seed: u64) -> Plan {
    let Plan { agent, vcs } = plan;
    let agent = Box::new(move |first, count| -> Box<dyn Routing> {
        let inner = agent(first, count);
        let heads = inner.watches().reconsiders.then(BTreeMap::new);
        Box::new(ByEntropy { inner, seed, heads })
    });
    Plan { agent, vcs }
}

impl ByEntropy {
    /// The hash of the flow and entropy of a packet, if draws for it follow from that.
    fn hash(&mut self, view: &RouterView<'_>, header: &Header) -> Option<u32> {
        let place = (view.router.0, view.input.0, view.vc.0, view.class);
        match (header.memo(), &mut self.heads) {
            (Memo::FlowHash(hash), Some(heads)) => {
                heads.insert(place, hash);
                Some(hash)
            }
            (Memo::FlowHash(hash), None) => Some(hash),
            // At its source it had one when it was looked at first.
            (_, Some(heads)) if header.hops == 0 => heads.get(&place).copied(),
            _ => None,
        }
    }
}

impl Wrapper for ByEntropy {
    fn inner(&self) -> &dyn Routing {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Routing {
        &mut *self.inner
    }

    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let Some(hash) = self.hash(view, header) else {
            return self.inner.route(view, header);
        };
        let seed = mix(self.seed ^ u64::from(hash));
        let mut own = RouterView {
            router: view.router,
            input: view.input,
            vc: view.vc,
            port: view.port,
            class: view.class,
            now: view.now,
            size: view.size,
            queues: view.queues,
            rng: &mut Stream::new(seed, Owner::Router(view.router.0)),
        };
        self.inner.route(&mut own, header)
    }

    fn follows(&self) -> Option<Follows> {
        self.inner.follows().filter(|follows| !follows.at_source)
    }

    fn escape(&self) -> Option<VcId> {
        self.inner.escape()
    }

    fn queues_changed(
        &mut self,
        router: RouterId,
        queues: &dyn Queues,
        messages: &mut Vec<Message>,
    ) {
        self.inner.queues_changed(router, queues, messages);
    }

    state! { keep inner, heads; leave seed; }
}
