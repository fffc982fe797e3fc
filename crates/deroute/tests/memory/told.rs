//! Networks whose hosts are told of packets.

use deroute::spec::Spec;

use super::{value, with};

/// The spec with congestion points that notify hosts, which react; or with windows that follow acknowledgements.
pub(crate) fn notified(spec: Spec, windows: bool) -> Spec {
    with(spec, |spec| {
        spec.network.links.values_mut().for_each(|link| link.buffer = 400.into());
        spec.network.classes = Some(value("{ count = 2 }"));
        spec.network.flow_control = value("{ pfc = { response = 0, frame = 4 } }");
        (spec.network.nic.latency, spec.network.nic.link) =
            (9.into(), Some(value("{ buffer = 200 }")));
        let qcn = "{ qcn = { q_eq = 20, sample = { bytes = 60 } } }";
        let limiters = "{ qcn = { byte_counter = 200, timer = 900, least_rate = '1%' } }";
        let nscc = ("{ ecn = { kmin = 10, kmax = 40 } }", "{ nscc = { base_rtt = 200 } }");
        let (point, reaction) = if windows { nscc } else { (qcn, limiters) };
        spec.network.congestion_point = Some(value(point));
        spec.network.nic.notification_point = windows.then(|| value("{ acknowledgement = {} }"));
        spec.network.nic.reaction_point = Some(value(reaction));
    })
}

/// The spec with HPCC and telemetry; or with windows that send again what switches trim.
fn round_trips(spec: Spec, control: &str) -> Spec {
    with(notified(spec, true), |spec| {
        spec.network.flow_control = value(control);
        if control.contains("trim") {
            spec.network.links.values_mut().for_each(|link| link.buffer = 40.into());
            spec.network.nic.retransmission = Some(value("{}"));
        } else {
            spec.network.congestion_point = Some(value("{ int = {} }"));
            spec.network.nic.reaction_point =
                Some(value("{ hpcc = { base_rtt = 200, increase = 1 } }"));
        }
    })
}

/// A network with windows, with telemetry, and with trimming.
pub(crate) fn round_trip_networks(tree: Spec) -> [(String, Spec); 3] {
    let telemetry = round_trips(tree.clone(), "{ pfc = { response = 0 } }");
    let trimming = round_trips(tree.clone(), "{ trim = { header = 1 } }");
    let windows = notified(tree, true);
    [("windows", windows), ("telemetry", telemetry), ("trimming", trimming)]
        .map(|(name, spec)| (name.to_owned(), spec))
}
