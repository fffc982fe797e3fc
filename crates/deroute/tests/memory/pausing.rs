//! Networks of links that are paused.

use deroute::spec::Spec;

use super::{VOQ, dragonfly, value, with};

/// Networks whose links are paused, with marks, and with memory that ports share.
pub(crate) fn pausing_networks() -> Vec<(String, Spec)> {
    let pausing = |control: &str, switch: &str| {
        with(dragonfly(3, "{ minimal = {} }"), |spec| {
            spec.network.links.values_mut().for_each(|link| link.buffer = 200.into());
            spec.network.nic.latency = 5.into();
            spec.network.nic.link = Some(value("{ buffer = 200 }"));
            spec.network.flow_control = value(control);
            spec.network.switch = value(switch);
            let ecn = "{ ecn = { kmin = 5, kmax = 9 } }";
            spec.network.congestion_point = (switch != VOQ).then(|| value(ecn));
        })
    };
    let combined = "{ combined_queued = { pipeline = 3, output_buffer = 64 } }";
    vec![
        ("PFC".to_owned(), pausing("{ pfc = { response = 0 } }", combined)),
        ("PFC, VOQ".to_owned(), pausing("{ pfc = { response = 0 } }", VOQ)),
        (
            "shared buffers".to_owned(),
            pausing(
                "{ pfc = { response = 0, shared_buffer = { size = 20000, alpha = 1.0 } } }",
                "{ input_buffered_output_queued = {} }",
            ),
        ),
        (
            "shared buffers, PAUSE".to_owned(),
            pausing(
                "{ pause = { response = 0, shared_buffer = { size = 20000, limit = 900 } } }",
                combined,
            ),
        ),
    ]
}

/// Networks whose outputs have no end, where only the hosts and the time say how much there can be.
pub(crate) fn unlimited_outputs() -> Vec<(String, Spec)> {
    let spec = |switch: &str, link: Option<&str>| {
        let spec = with(dragonfly(3, "{ minimal = {} }"), |spec| {
            spec.network.flow_control =
                value("{ pfc = { response = 0, frame = 4, lossy = true } }");
            (spec.network.nic.latency, spec.network.nic.link) = (5.into(), link.map(value));
            spec.network.switch = value(switch);
        });
        (format!("{switch}, link of hosts: {link:?}"), spec)
    };
    let iboq = "{ input_buffered_output_queued = {} }";
    vec![
        spec(iboq, None),
        spec(iboq, Some("{ buffer = 200 }")),
        spec("{ output_queued = {} }", None),
        spec("{ output_queued = {} }", Some("{ buffer = 200 }")),
    ]
}
