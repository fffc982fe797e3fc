//! A routing whose draws follow from the entropy of a packet.

use crate::ids::{RouterId, VcId};
use crate::rng::{Owner, Stream, mix};
use crate::routing::{
    Follows, Header, Hop, Memo, Message, Plan, Queues, RouterView, Routing, Wrapper,
};
use crate::state::state;

/// Draws from the hash of a flow and its entropy, where a packet has one.
struct ByEntropy {
    inner: Box<dyn Routing>,
    seed: u64,
}

/// A plan whose paths follow from entropies, in a run with this seed.
pub(crate) fn follow_entropy(plan: Plan, seed: u64) -> Plan {
    let Plan { agent, vcs } = plan;
    let agent = Box::new(move |first, count| -> Box<dyn Routing> {
        Box::new(ByEntropy { inner: agent(first, count), seed })
    });
    Plan { agent, vcs }
}

impl Wrapper for ByEntropy {
    fn inner(&self) -> &dyn Routing {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Routing {
        &mut *self.inner
    }

    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let Memo::FlowHash(hash) = header.memo() else {
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

    state! { keep inner; leave seed; }
}
