//! Trimming and retransmission: what finds no room comes in the end, and once.

use deroute::RunOptions;
use deroute::outcome::{Outcome, RetransmissionUse, State};
use deroute::spec::Spec;

use crate::support::catalogue::RECOVERED;
use crate::support::incast::{Incast, loaded};
use crate::support::{self, value};

/// Acknowledgements, a reaction point, and what is sent again.
fn nic(reaction: &str, again: &str) -> String {
    format!(
        "notification_point = {{ acknowledgement = {{}} }}\nreaction_point = {reaction}\n\
         retransmission = {again}"
    )
}

fn again(outcome: &Outcome) -> &RetransmissionUse {
    outcome.retransmission.as_ref().expect("retransmission")
}

/// Senders whose windows never hold them up fill their links, n of them with packets of P phits. The link to the receiver
/// carries what fits and the headers of all else, H phits each: G P + (n / P - G) H = 1 for G packets a cycle.
#[test]
fn goodput_is_what_headers_leave() {
    for (senders, packet) in [(2_u32, 20_u32), (4, 20), (8, 20), (16, 80)] {
        let window = format!("{{ window = {{ size = {} }} }}", 50 * packet);
        let buffer = (5 * packet).to_string();
        let control = "{ trim = {} }";
        let nic = nic(&window, "{}");
        let incast =
            Incast { senders, packet, control, buffer: &buffer, nic: &nic, ..Incast::default() };
        let outcome = support::run(&incast.spec());
        // 64 B are two phits of 50.
        let header = 2.0 / f64::from(packet);
        let expected = (1.0 - f64::from(senders) * header) / (1.0 - header);
        let found = outcome.arrays.accepted_by_host[senders as usize];
        assert!((found - expected).abs() < 2e-3, "{senders}: {found} for {expected}");
        let (used, links) = (again(&outcome), &outcome.flow_control.as_ref().unwrap().links);
        let trimmed: u64 = links.iter().map(|class| class.trimmed_packets).sum();
        assert!(trimmed == used.trimmed && trimmed > 1_000, "{used:?}");
        assert_eq!((outcome.packets.lost, outcome.notifications.unwrap().lost), (0, 0));
    }
}

/// Sixteen hosts behind a leaf send to one behind another.
fn tree(control: &str, reaction: &str, retransmission: &str) -> Spec {
    support::parse(&format!(
        "[units]\ncycle = \"4 ns\"\nphit = \"50 B\"\n\
         [network]\ntopology = {{ kary_tree = {{ k = 4, levels = 2 }} }}\nclasses = {{ count = 2 }}\n\
         congestion_point = {{ ecn = {{ kmin = \"4 KB\", kmax = \"16 KB\", pmax = 1.0 }} }}\n\
         flow_control = {control}\n\
         switch = {{ input_buffered_output_queued = {{ pipeline = 25 }} }}\n\
         links = {{ level1 = {{ latency = 25, vcs = 2, buffer = 400 }} }}\n\
         [network.nic]\nlatency = 25\nlink = {{ buffer = 400 }}\n{}\n\
         [routing.mod_k]\n\
         [workload]\npacket_size = 80\nlimit = \"20 ms\"\n\
         jobs = [{{ flows = {{ incast = {{ senders = 12, to = 15, size = \"100 KB\" }} }} }}]\n\
         [checks]\nfull = true\n",
        nic(reaction, retransmission)
    ))
}

/// Every flow ends, its packets have come once, and what was sent is accounted for. While the link to the receiver is
/// busy it carries packets, headers and copies: that is the time of all flows, but for the way.
#[test]
fn flows_complete_once() {
    let nscc = "{ nscc = { base_rtt = 320 } }";
    let wide = "{ window = { size = '20 KB' } }";
    for (control, reaction, retransmission) in [
        ("{ trim = {} }", wide, "{}"),
        ("{ trim = {} }", nscc, "{}"),
        ("{ trim = { header = 20 } }", nscc, "{ timeout = 4000 }"),
        ("{ lossy = {} }", wide, "{ timeout = 30000 }"),
        ("{ lossy = {} }", nscc, "{}"),
    ] {
        let what = format!("{control} {reaction} {retransmission}");
        let outcome = support::run_divided(&tree(control, reaction, retransmission), &what);
        assert_eq!(outcome.verdict.state, State::Completed, "{what}");
        let (packets, used) = (&outcome.packets, again(&outcome));
        assert_eq!((packets.generated, packets.delivered, packets.in_flight), (300, 300, 0));
        assert!(used.retransmitted > 10, "{what}: {used:?}");
        assert_eq!(
            packets.injected + used.retransmitted,
            packets.delivered + packets.lost + used.trimmed + used.duplicates,
            "{what}: {used:?}"
        );
        assert_eq!(used.trimmed > 0, control.contains("trim"), "{what}: {used:?}");
        assert_eq!(packets.lost > 0, control.contains("lossy"), "{what}: {packets:?}");
        if control == "{ trim = {} }" && reaction == wide {
            let time = outcome.workload.as_ref().expect("flows").jobs[0].time;
            let busy = 80 * (packets.delivered + used.duplicates) + 2 * used.trimmed;
            assert!((busy..busy + 600).contains(&time), "{time} cycles for {busy}");
            assert_eq!((used.timeouts, used.nacks), (0, used.trimmed), "{used:?}");
        }
    }
}

/// One flow over a link of half the rate, from a buffer of two packets: from the fifth on every second one is lost, the
/// last but one at the end. It comes when its time is over, and takes its way: links and pipelines, the phits that a
/// faster link waits for, and its own.
#[test]
fn a_timeout_brings_what_was_lost() {
    for (packets, timeout) in [(8_u32, 2_000_u32), (16, 2_000), (16, 900)] {
        let nic = nic("{ window = { size = 10_000 } }", &format!("{{ timeout = {timeout} }}"));
        let spec = support::parse(&format!(
            "[network]\ntopology = {{ graph = {{ hosts = 1, edges = [[0, 1]] }} }}\n\
             classes = {{ count = 2 }}\nflow_control = {{ lossy = {{}} }}\n\
             switch = {{ input_buffered_output_queued = {{ pipeline = 10 }} }}\n\
             links = {{ link = {{ latency = 30, vcs = 2, buffer = 1000, rate = \"1/2\" }} }}\n\
             [network.nic]\nlatency = 50\nlink = {{ buffer = 40 }}\n{nic}\n\
             [routing.minimal]\n\
             [workload]\npacket_size = 20\nlimit = 100_000\n\
             jobs = [{{ flows = {{ list = [{{ source = 0, destination = 1, size = {} }}] }} }}]\n\
             [checks]\nfull = true\n",
            20 * packets
        ));
        let outcome = support::run(&spec);
        let used = again(&outcome);
        let lost = u64::from((packets - 4) / 2);
        assert_eq!((outcome.packets.lost, used.timeouts, used.duplicates), (lost, lost, 0));
        assert_eq!(used.retransmitted, lost);
        let way = 2 * 50 + 30 + 2 * 10 + 20 + 20;
        let expected = u64::from(20 * (packets - 2) + timeout + way);
        let time = outcome.workload.as_ref().expect("flows").jobs[0].time;
        assert_eq!(time, expected, "{packets} packets, {timeout} cycles");
    }
}

/// Where everything comes nothing is sent again, the outcome says so, and all else is as it is without.
#[test]
fn what_never_acts_says_so() {
    for control in RECOVERED {
        let window = "{ window = { size = 100 } }";
        let (nic, measure) = (nic(window, "{ timeout = 100_000 }"), "50 us");
        let incast = Incast { senders: 1, control, nic: &nic, measure, ..Incast::default() };
        let mut spec = incast.spec();
        let mut outcome = support::run(&spec);
        let used = outcome.retransmission.take().expect("retransmission");
        assert!(used.says.iter().any(|says| says == "nothing was sent again"), "{:?}", used.says);
        let trims = used.says.iter().any(|says| says == "no packet was trimmed");
        assert_eq!(trims, control.contains("trim"), "{:?}", used.says);
        assert_eq!((used.retransmitted, used.timeouts, used.duplicates), (0, 0, 0));
        spec.network.nic.retransmission = None;
        spec.network.flow_control = value("{ pfc = {} }");
        (outcome.flow_control, spec.checks.full) = (None, true);
        let mut guarded = support::run(&spec);
        guarded.flow_control = None;
        assert!(guarded == outcome, "{control}: it disturbs");
    }
}

/// Loaded networks with every law give the same for any division and from a checkpoint.
#[test]
fn losses_divide() {
    let networks = [
        ("{ dragonfly = { p = 2, a = 4, h = 2 } }", "{ minimal = {} }"),
        ("{ kary_tree = { k = 2, levels = 3 } }", "{ up_oblivious = {} }"),
        ("{ hyperx = { widths = [4, 4], hosts = 2 } }", "{ o1turn = {} }"),
    ];
    let laws = [
        "{ window = { size = 80 } }",
        "{ swift = { target = 90, increase = 1.0, decrease = 0.8, most_cut = 0.5, \
           least_window = 2, largest_window = 80 } }",
        "{ nscc = { base_rtt = 90 } }",
        "{ timely = { segment = 20, low = 60, high = 300, least_time = 40, increase = '1/100' } }",
        "{ hpcc = { base_rtt = 150, increase = 1 } }",
        "{ dctcp = { largest_window = 80, initial_window = 40 } }",
    ];
    for (n, network) in networks.into_iter().enumerate() {
        for (m, law) in laws.into_iter().enumerate() {
            let control = RECOVERED[(n + m) % 3];
            let timeout = if control.contains("trim") { "" } else { "timeout = 400" };
            let nic = format!(
                "{{ latency = 5, injection_queue = 200, link = {{ buffer = 16 }},
                   notification_point = {{ acknowledgement = {{ notifications = {{ size = 2 }} }} }},
                   reaction_point = {law}, retransmission = {{ {timeout} }}, resequencing = {{}} }}"
            );
            let mut spec = loaded(network, n, control, &nic);
            spec.network.links.values_mut().for_each(|link| link.buffer = 12.into());
            spec.network.congestion_point = Some(value(match law.contains("hpcc") {
                true => "{ int = {} }",
                false => "{ ecn = { kmin = 4, kmax = 20, pmax = 0.5 } }",
            }));
            let what = format!("{network:?} {law} {control}");
            let one = support::run(&spec);
            let options = RunOptions { threads: 2, partitions: Some(3), ..RunOptions::default() };
            assert!(one == support::attempt(&spec, &options).unwrap(), "{what}: divided");
            let used = again(&one);
            assert!(used.retransmitted > 20, "{what}: {used:?}");
            assert_eq!(used.trimmed > 20, control.contains("trim"), "{what}: {used:?}");
        }
    }
}
