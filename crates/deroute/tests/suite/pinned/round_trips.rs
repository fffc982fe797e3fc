//! Windows and rates by acknowledgements, and what is sent again.

use super::specs::{Pin, pin};
use crate::support::catalogue::{PAUSES, RECOVERED};
use crate::support::incast::loaded;
use crate::support::value;

const LAWS: [&str; 5] = [
    "{ window = { size = 80 } }",
    "{ swift = { target = 90, increase = 1.0, decrease = 0.8, most_cut = 0.5, least_window = 2, largest_window = 80 } }",
    "{ nscc = { base_rtt = 90 } }",
    "{ timely = { segment = 20, low = 60, high = 300, least_time = 40, increase = '1/100' } }",
    "{ hpcc = { base_rtt = 150, increase = 1 } }",
];

const DCTCP: &str = "{ dctcp = { largest_window = 80, initial_window = 40 } }";

const NETWORKS: [(&str, &str); 3] = [
    ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ minimal = {} }"),
    ("{ kary_tree = { k = 2, levels = 3 } }", "{ up_oblivious = {} }"),
    ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ o1turn = {} }"),
];

/// Every law on links that lose nothing, that trim, and that lose packets.
pub fn round_trips() -> Vec<Pin> {
    let cases = (0..3).flat_map(|n| LAWS.map(|law| (n, law)));
    let cases = cases.chain((0..3).map(|n| (n, DCTCP)));
    let controls = [
        (PAUSES[0], 400_u32, ""),
        (RECOVERED[0], 12, ", retransmission = {}"),
        (RECOVERED[2], 12, ", retransmission = { timeout = 300 }"),
    ];
    let each = |(m, (n, law)): (usize, (usize, &'static str))| {
        let (control, buffer, again) = controls[n];
        let nic = format!(
            "{{ latency = 5, injection_queue = 200, link = {{ buffer = {} }},
               notification_point = {{ acknowledgement = {{ notifications = {{ size = 2 }} }} }},
               reaction_point = {law}{again} }}",
            buffer + 4
        );
        let network = NETWORKS[m % 3];
        let mut spec = loaded(network, m, control, &nic);
        spec.network.links.values_mut().for_each(|link| link.buffer = u64::from(buffer).into());
        spec.network.congestion_point = Some(value(match law.contains("hpcc") {
            true => "{ int = {} }",
            false => "{ ecn = { kmin = 4, kmax = 20, pmax = 0.5 } }",
        }));
        spec.run.measure = 1_000.into();
        pin("round trips", &[network.0, control, law], spec)
    };
    cases.enumerate().map(each).collect()
}
