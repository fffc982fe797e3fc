//! The links of the network, and the buffers at their ends.

use std::sync::Arc;

use crate::control::LinkClass;
use crate::routing::{Fabric, VcNeed};
use crate::spec::{Scale, Spec, SpecError};
use crate::topology::Topology;

/// The link classes of the topology, in its order.
pub(super) fn resolve(
    spec: &Spec,
    scale: &Scale,
    topology: &dyn Topology,
) -> Result<Vec<LinkClass>, SpecError> {
    let names = topology.classes();
    if let Some(name) = spec.network.links.keys().find(|key| !names.contains(&key.as_str())) {
        let message = format!("the topology has no link class {name:?}");
        let choices = names.iter().copied();
        return Err(SpecError::new(format!("network.links.{name}"), message).choices(choices));
    }
    names
        .iter()
        .map(|name| {
            let path = format!("network.links.{name}");
            let Some(link) = spec.network.links.get(*name) else {
                let message = "missing: the topology has links of this class";
                return Err(SpecError::new(path, message).choices(["{ latency, vcs, buffer }"]));
            };
            if !(1..=64).contains(&link.vcs) {
                let message = format!("{} virtual channels is out of range", link.vcs);
                return Err(SpecError::new(format!("{path}.vcs"), message).choices(["1 to 64"]));
            }
            let reserve = scale.buffer(&format!("{path}.buffer"), &link.buffer)?;
            let shared = match &link.shared {
                Some(shared) => scale.buffer(&format!("{path}.shared"), shared)?,
                None => 0,
            };
            Ok(LinkClass {
                latency: scale.interval(&format!("{path}.latency"), &link.latency, 1)?,
                vcs: link.vcs,
                buffer: reserve + shared,
                shared,
            })
        })
        .collect()
}

/// What a routing is planned on.
pub(super) fn fabric(topology: &Arc<dyn Topology>, classes: &[LinkClass], scale: Scale) -> Fabric {
    Fabric {
        topology: Arc::clone(topology),
        latency: classes.iter().map(|class| class.latency).collect(),
        vcs: classes.iter().map(|class| class.vcs).collect(),
        buffers: classes.iter().map(|class| class.buffer).collect(),
        classes: 1,
        scale,
    }
}

/// Are there as many VCs as the paths need?
pub(super) fn enough_vcs(
    classes: &[LinkClass],
    topology: &dyn Topology,
    needs: &[VcNeed],
) -> Result<(), SpecError> {
    for need in needs {
        let index = topology.classes().iter().position(|name| *name == need.class);
        let Some(class) = index.map(|i| classes[i]) else { continue };
        if class.vcs < need.vcs {
            let path = format!("network.links.{}.vcs", need.class);
            let (have, want, why) = (class.vcs, need.vcs, &need.why);
            let message = format!("{have} is too few: this routing needs {want}, because {why}");
            return Err(SpecError::new(path, message).choices([format!("{want} to 64")]));
        }
    }
    Ok(())
}

/// Classes of VCs that a routing needs in each link class; all VCs where it says nothing.
pub(super) fn shared_by(
    classes: &[LinkClass],
    topology: &dyn Topology,
    needs: &[VcNeed],
) -> Vec<u8> {
    let of = |(name, class): (&&str, &LinkClass)| {
        let need = needs.iter().find(|need| need.class == *name);
        need.map_or(class.vcs, |need| need.vcs.max(1))
    };
    topology.classes().iter().zip(classes).map(of).collect()
}
