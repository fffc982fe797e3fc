//! What the routings of a fat tree share: they choose the way up, the way down is given.

use std::sync::Arc;

use super::{
    AgentFactory, Fabric, Header, Hop, Notification, Plan, RouterView, Routing, Signal, VcNeed,
    Watches, require_tree,
};
use crate::ids::{Cycle, RouterId, VcId};
use crate::spec::SpecError;
use crate::state::{State, state};
use crate::topology::{Step, Tree};

/// A hop up, still to be chosen.
#[derive(Clone, Copy)]
pub(super) struct Rise {
    /// Level of the switch, from 1.
    pub(super) level: usize,
    /// Ports that lead up.
    pub(super) ups: u32,
    /// The destination host.
    pub(super) host: u32,
}

/// Chooses the way up.
pub(super) trait Climb: State + Send {
    /// Which of the ports that lead up a packet takes.
    fn choose(
        &mut self,
        tree: &Tree,
        view: &mut RouterView<'_>,
        header: &mut Header,
        rise: Rise,
    ) -> u32;

    /// Does it choose again while the packet is blocked?
    fn redecides(&self) -> bool {
        false
    }

    /// See [`Watches::signal`].
    fn signal(&self) -> Option<Signal> {
        None
    }

    /// Does it want [`Climb::notified`]?
    fn follows_notifications(&self) -> bool {
        false
    }

    /// See [`Routing::notified`].
    fn notified(&mut self, _tree: &Tree, _told: &Notification) {}

    /// See [`Routing::gauges`].
    fn gauges(&self) -> Vec<String> {
        Vec::new()
    }

    /// See [`Routing::read`].
    fn read(&mut self, _router: RouterId, _now: Cycle, _values: &mut Vec<f64>) {}

    /// See [`Routing::deeds`].
    fn deeds(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// See [`Routing::bytes`].
    fn bytes(&self) -> usize {
        0
    }
}

struct Upward<C> {
    tree: Arc<Tree>,
    climb: C,
}

/// Up and then down: one VC is enough.
#[inline]
fn hop(Step { port, kind }: Step) -> Hop {
    Hop { port, vc: VcId(0), position: kind + 1 }
}

impl<C: Climb> Routing for Upward<C> {
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        let tree = &*self.tree;
        let host = tree.first_host(header.destination) + u32::from(view.port.0);
        if tree.is_below(host, view.router) {
            return hop(tree.descend(view.router, host));
        }
        let level = tree.level(view.router);
        let rise = Rise { level, ups: tree.ups(level), host };
        hop(tree.ascend(level, self.climb.choose(tree, view, header, rise)))
    }

    fn watches(&self) -> Watches {
        let redecides = self.climb.redecides();
        let (signal, notifications) = (self.climb.signal(), self.climb.follows_notifications());
        let (reconsiders, transit) = (redecides, redecides);
        Watches { reconsiders, transit, signal, notifications, ..Watches::default() }
    }

    fn notified(&mut self, told: &Notification) {
        self.climb.notified(&self.tree, told);
    }

    fn gauges(&self) -> Vec<String> {
        self.climb.gauges()
    }

    fn read(&mut self, router: RouterId, now: Cycle, values: &mut Vec<f64>) {
        self.climb.read(router, now, values);
    }

    fn deeds(&self) -> Vec<(&'static str, u64)> {
        self.climb.deeds()
    }

    fn bytes(&self) -> usize {
        self.climb.bytes()
    }

    state! { keep climb; leave tree; }
}

/// A plan whose agents choose the way up as `climb` says, made for the routers `first..first + count`.
pub(super) fn plan<C: Climb + 'static>(
    fabric: &Fabric,
    path: &str,
    climb: impl Fn(&Tree, RouterId, u32) -> C + Send + Sync + 'static,
) -> Result<Plan, SpecError> {
    require_tree(fabric, path)?;
    let tree = fabric.topology.tree().cloned();
    let agent: AgentFactory = Box::new(move |first, count| {
        let Some(tree) = tree.clone() else { unreachable!("a tree is required") };
        let climb = climb(&tree, first, count);
        Box::new(Upward { tree, climb })
    });
    let why = "paths lead up and then down";
    let need = |class: &&'static str| VcNeed { class, vcs: 1, why: why.into() };
    Ok(Plan { agent, vcs: fabric.topology.classes().iter().map(need).collect() })
}

/// The host at whose injection queue the packet is.
#[inline]
pub(super) fn source(tree: &Tree, view: &RouterView<'_>) -> u32 {
    tree.first_host(view.router) + u32::from(view.input.0)
}
