//! Routing within the classes of a queuing scheme.

use std::ops::Range;

use super::MOST;
use crate::congestion::NoticePlan;
use crate::ids::{PortId, RouterId, VcId};
use crate::routing::{
    self, Algorithm, Fabric, Follows, Header, Hop, Message, Plan, Planner, Queues, RouterView,
    Routing, VcNeed, Wrapper,
};
use crate::spec::SpecError;
use crate::state::CheckpointError;

/// A routing whose VCs are shared out among the classes.
struct Classified {
    inner: Box<dyn Routing>,
    classes: u8,
    /// Classes of notifications, and the routing of these.
    notices: Option<(Range<u8>, Box<dyn Routing>)>,
}

/// The queues of one class.
struct OwnQueues<'a> {
    queues: &'a dyn Queues,
    classes: u8,
    class: u8,
}

impl Queues for OwnQueues<'_> {
    fn port(&self, port: PortId) -> u32 {
        self.queues.port(port)
    }

    #[inline]
    fn vc(&self, port: PortId, vc: VcId) -> u32 {
        self.queues.vc(port, self.own(vc))
    }

    fn class(&self, port: PortId, vc: VcId, classes: u8) -> u32 {
        self.queues.class(port, self.own(vc), classes * self.classes)
    }

    fn lane(&self, port: PortId, vc: VcId) -> u32 {
        self.queues.lane(port, self.own(vc))
    }

    fn classes(&self, first: PortId, vc: VcId, classes: u8, lengths: &mut [u32]) {
        self.queues.classes(first, self.own(vc), classes * self.classes, lengths);
    }

    fn lanes(&self, first: PortId, vc: VcId, lengths: &mut [u32]) {
        self.queues.lanes(first, self.own(vc), lengths);
    }

    #[inline]
    fn taken(&self, port: PortId, vc: VcId) -> u32 {
        self.queues.taken(port, self.own(vc))
    }

    fn fits(&self, port: PortId, vc: VcId, size: u16) -> bool {
        self.queues.fits(port, self.own(vc), size)
    }

    fn is_paused(&self, port: PortId, vc: VcId) -> bool {
        self.queues.is_paused(port, self.own(vc))
    }

    fn takes(&self, port: PortId, vc: VcId, size: u16) -> bool {
        self.queues.takes(port, self.own(vc), size)
    }
}

impl OwnQueues<'_> {
    #[inline]
    fn own(&self, vc: VcId) -> VcId {
        VcId(vc.0 * self.classes + self.class)
    }
}

/// The queues of all classes.
struct AllQueues<'a> {
    queues: &'a dyn Queues,
    classes: u8,
}

impl Queues for AllQueues<'_> {
    fn port(&self, port: PortId) -> u32 {
        self.queues.port(port)
    }

    fn vc(&self, port: PortId, vc: VcId) -> u32 {
        let first = vc.0 * self.classes;
        (first..first + self.classes).map(|vc| self.queues.vc(port, VcId(vc))).sum()
    }
}

impl Wrapper for Classified {
    fn inner(&self) -> &dyn Routing {
        &*self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn Routing {
        &mut *self.inner
    }

    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let classes = self.classes;
        // A host's VC is the class itself.
        let class = view.vc.0 % classes;
        let mut own = RouterView {
            router: view.router,
            input: view.input,
            vc: VcId(view.vc.0 / classes),
            port: view.port,
            class,
            now: view.now,
            size: view.size,
            queues: &OwnQueues { queues: view.queues, classes, class },
            rng: view.rng,
        };
        let routing = match &mut self.notices {
            Some((own, routing)) if own.contains(&class) => &mut **routing,
            _ => &mut *self.inner,
        };
        let hop = routing.route(&mut own, header);
        Hop { vc: VcId(hop.vc.0 * classes + class), ..hop }
    }

    /// Within the class, whose VC the engine knows.
    fn follows(&self) -> Option<Follows> {
        self.inner.follows()
    }

    /// [`plan`] refuses routings with a VC to escape through.
    fn escape(&self) -> Option<VcId> {
        None
    }

    fn queues_changed(
        &mut self,
        router: RouterId,
        queues: &dyn Queues,
        messages: &mut Vec<Message>,
    ) {
        let all = AllQueues { queues, classes: self.classes };
        self.inner.queues_changed(router, &all, messages);
    }

    fn save(&self, into: &mut Vec<u8>) -> Result<(), CheckpointError> {
        self.inner.save(into)?;
        self.notices.iter().try_for_each(|(_, routing)| routing.save(into))
    }

    fn load(&mut self, from: &mut &[u8]) -> Result<(), CheckpointError> {
        self.inner.load(from)?;
        self.notices.iter_mut().try_for_each(|(_, routing)| routing.load(from))
    }
}

/// Checks a routing against the network, with its VCs shared out among the classes of scheme
/// `name`, some of which may be those of notifications.
pub(super) fn plan(
    (name, classes): (&str, u8),
    notices: Option<(Range<u8>, NoticePlan)>,
    mut fabric: Fabric,
    planner: &Planner<'_>,
) -> Result<Plan, SpecError> {
    for (class, vcs) in fabric.topology.classes().iter().zip(&mut fabric.vcs) {
        if *vcs < classes {
            let message = format!("{vcs} is too few: {name} has {classes} classes");
            let path = format!("network.links.{class}.vcs");
            return Err(SpecError::new(path, message).choices([format!("{classes} to {MOST}")]));
        }
        *vcs /= classes;
    }
    fabric.classes = classes;
    let Plan { agent, mut vcs } = planner(&fabric)?;
    let notices = match notices {
        Some((own, plan)) => {
            let Plan { agent, vcs: needed } = notified(&plan, &fabric)?;
            vcs.extend(needed);
            Some((own, agent))
        }
        None => None,
    };
    if agent(RouterId(0), 1).escape().is_some() {
        let message = "this routing keeps one VC to escape through, which classes cannot share";
        return Err(SpecError::new("network.queuing", message).choices(["no queuing scheme"]));
    }
    let agent = Box::new(move |first, count| -> Box<dyn Routing> {
        let notices = notices.as_ref().map(|(own, agent)| (own.clone(), agent(first, count)));
        Box::new(Classified { inner: agent(first, count), classes, notices })
    });
    let why = "its paths have to be free of deadlocks in each class of the queuing scheme";
    let each =
        |need: VcNeed| VcNeed { vcs: need.vcs.saturating_mul(classes), why: why.into(), ..need };
    Ok(Plan { agent, vcs: vcs.into_iter().map(each).collect() })
}

/// The routing of notifications.
fn notified(plan: &NoticePlan, fabric: &Fabric) -> Result<Plan, SpecError> {
    let routing = match plan.random_up {
        true => Algorithm::UpOblivious(Default::default()),
        false => Algorithm::Minimal(Default::default()),
    };
    routing::build(&routing, fabric).map_err(|error| {
        let path = format!("{}.notifications.path", plan.point);
        SpecError::new(path, error.message).choices(["minimal"])
    })
}
