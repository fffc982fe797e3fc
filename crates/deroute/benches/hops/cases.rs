//! The networks whose speed is measured.

use deroute::Simulation;
use deroute::ids::RouterId;
use deroute::spec::{Addressing, Routing, Spec, TableSpec};

/// A simulation whose speed is measured.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) spec: Spec,
}

pub(crate) const MIN: &str = "minimal = {}";
const VLB: &str = "valiant = {}";
const UGAL: &str = "ugal = {}";
const PB: &str = "piggyback = {}";
pub(crate) const UN: &str = "\"uniform\"";
const ADV: &str = "{ adversarial = { offset = 1 } }";
const BC: &str = "\"bit_complement\"";

/// What a routing and a pattern are called in the table.
pub(crate) fn label(routing: &str, pattern: &str, load: f64) -> String {
    let routing = routing.split(' ').next().unwrap_or_default();
    let pattern = match pattern {
        UN => "UN",
        BC => "BC",
        _ => "ADV+1",
    };
    format!("{routing} {pattern} {load}")
}

fn parse(text: &str) -> Spec {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A balanced Dragonfly with the switch of thesis Table 3-1, for fewer cycles.
pub(crate) fn dragonfly(h: u32, routing: &str, pattern: &str, load: f64) -> Case {
    let spec = thesis(h, (1, ""), routing, &format!("load = {load}\npattern = {pattern}\n"));
    Case { name: format!("h{h} {}", label(routing, pattern, load)), spec }
}

/// A balanced Dragonfly with the switch of thesis Table 3-1, with more tables if any, and the VCs of a routing for
/// so many classes.
pub(crate) fn thesis(h: u32, (classes, tables): (u8, &str), routing: &str, traffic: &str) -> Spec {
    const NIC: &str = "[network.nic]\ninjection_queue = 5040\n";
    let (a, nic) = (2 * h, if tables.contains("[network.nic]") { "" } else { NIC });
    let (local, global) = if routing == MIN { (2, 1) } else { (4, 2) };
    let (local, global) = (local * classes, global * classes);
    let cycles = match h {
        // Enough that what the memory costs at first does not count.
        8 | 16 => 2_000,
        6 => 6_000,
        _ => 25_000,
    };
    parse(&format!(
        "[network.topology.dragonfly]\np = {h}\na = {a}\nh = {h}\n\
         [network.links]\n\
         local = {{ latency = 15, vcs = {local}, buffer = 720 }}\n\
         global = {{ latency = 150, vcs = {global}, buffer = 1800 }}\n\
         {nic}\
         [network.switch.combined_queued]\npipeline = 90\noutput_buffer = 630\n\
         {tables}\
         [routing]\n{routing}\n\
         [run]\nwarmup = 1000\nmeasure = {cycles}\n\
         [traffic]\npacket_size = 10\n{traffic}"
    ))
}

/// A network with the switch, links and packets of McDonald et al., SC 2019, section 6, as in
/// `reproduce/hyperx/paper.toml`.
fn mcdonald(topology: &str, classes: &[&str], routing: &str, (pattern, load): (&str, f64)) -> Spec {
    let link = |class: &&str| format!("{class} = {{ latency = 50, vcs = 8, buffer = 180 }}\n");
    let links: String = classes.iter().map(link).collect();
    parse(&format!(
        "[network]\nsensing = \"waiting\"\nspare_vcs = \"emptiest\"\n\
         topology = {topology}\n\
         [network.links]\n{links}\
         [network.nic]\nlatency = 5\n\
         [network.switch.combined_queued]\npipeline = 50\nspeedup = 8\noutput_buffer = 512\n\
         allocator = {{ arbiter = \"age\" }}\n\
         [routing]\n{routing}\n\
         [traffic]\nload = {load}\npacket_size = {{ min = 1, max = 16 }}\npattern = {pattern}\n\
         injection = \"paced\"\n\
         [run]\nwarmup = 1000\nmeasure = 3000\n"
    ))
}

/// The HyperX of that paper.
fn hyperx(routing: &str, pattern: &str, load: f64) -> Case {
    let topology = "{ hyperx = { widths = [8, 8, 8], hosts = 8 } }";
    let spec = mcdonald(topology, &["dim1", "dim2", "dim3"], routing, (pattern, load));
    Case { name: format!("HyperX {}", label(routing, pattern, load)), spec }
}

/// A Dragonfly with the switches of the HyperX: what differs is the routing.
fn dragonfly_alike(routing: &str, pattern: &str, load: f64) -> Case {
    let topology = "{ dragonfly = { p = 6, a = 12, h = 6 } }";
    let spec = mcdonald(topology, &["local", "global"], routing, (pattern, load));
    Case { name: format!("h6 alike {}", label(routing, pattern, load)), spec }
}

/// A tenth of a millisecond of the network of Rocher-Gonzalez et al., section 5.1, under HS10-1 at full load,
/// as in `reproduce/fat-tree/paper.toml`.
fn fat_tree(name: &str, (switch, control): (&str, &str), queuing: &str, routing: &str) -> Case {
    let link = "{ latency = \"6 ns\", vcs = 3, buffer = \"64 KB\" }";
    let spec = parse(&format!(
        "[units]\ncycle = \"1 ns\"\nphit = \"12.5 B\"\n\
         [network.topology.rlft]\nports = 36\nstages = 3\n\
         [network.links]\nlevel1 = {link}\nlevel2 = {link}\n\
         [network.queuing.{queuing}]\nqueues = 3\n\
         [network.nic]\nlatency = \"6 ns\"\ninjection_queue = \"64 KB\"\n\
         [network.switch]\n{switch}\n\
         [network.flow_control]\n{control}\n\
         [routing]\n{routing}\n\
         [traffic]\nload = 1.0\npacket_size = \"4 KB\"\npattern = \"uniform\"\n\
         [[traffic.hotspots]]\nsources = {{ random = {{ share = 0.1 }} }}\n\
         destinations = {{ scattered = 1 }}\n\
         [run]\nwarmup = \"60 us\"\nmeasure = \"40 us\"\n"
    ));
    Case { name: format!("11,664 hosts, {name}"), spec }
}

/// The cases that are compared with the floor, and at most how often its time they may take.
pub(crate) fn cases() -> Vec<(Case, Option<f64>)> {
    let mut cases = Vec::new();
    for h in [4, 6, 8, 16] {
        let (oblivious, adaptive) = if h == 6 { (Some(6.0), Some(9.0)) } else { (None, None) };
        let mut case = |routing, pattern, load, bar| {
            cases.push((dragonfly(h, routing, pattern, load), bar));
        };
        for load in [0.1, 0.5, 0.9] {
            case(MIN, UN, load, oblivious);
        }
        case(VLB, ADV, 0.4, oblivious);
        case(PB, UN, 0.5, adaptive);
        case(UGAL, UN, 0.5, adaptive);
    }
    cases
}

/// A case beside others: its time per hop is to be at most `bar` times that of the first of these.
pub(crate) struct Comparison {
    pub(crate) own: Case,
    pub(crate) others: Vec<Case>,
    pub(crate) bar: f64,
    /// Its memory per host is to be at most so many times that of the first.
    pub(crate) memory_bar: Option<f64>,
}

/// Routings that adapt, two of which count every blocked attempt, over VLB at the same load, below
/// saturation.
pub(crate) fn adaptive() -> Vec<Comparison> {
    let routings = [
        ("RVLB, recomputed", "valiant = { restricted = true, recompute = true }"),
        ("ACOR-Switch", "valiant = { phase_a = { acor = {} } }"),
        ("ACOR-Packet", "valiant = { phase_a = { acor = { per = 'packet' } } }"),
        ("UGAL, recomputed", "ugal = { restricted = true, recompute = true }"),
        ("PB", PB),
        ("PB, recomputed", "piggyback = { ugal = { restricted = true, recompute = true } }"),
        ("PB-ACOR", "piggyback = { ugal = { phase_a = { acor = {} } } }"),
        ("TPR", "tpr = { ugal = { restricted = true, recompute = true } }"),
        ("LIAN", "lian = {}"),
    ];
    let mut comparisons = Vec::new();
    for (pattern, load) in [(UN, 0.3), (ADV, 0.3)] {
        for (name, routing) in routings {
            let vlb = dragonfly(6, VLB, pattern, load);
            let name = vlb.name.replace("valiant", name);
            let own = Case { name, ..dragonfly(6, routing, pattern, load) };
            comparisons.push(Comparison { own, others: vec![vlb], bar: 1.6, memory_bar: None });
        }
    }
    comparisons
}

/// Threshold and offset of `reproduce/hyperx/paper.toml`.
const HYPERX_UGAL: &str = "ugal = { threshold = 48 }";
const CLOS_AD: &str = "clos_ad = { offset = 16 }";
const MIN_AD: &str = "min_ad = {}";
const DIMWAR: &str = "dimwar = { offset = 16 }";
const OMNIWAR: &str = "omniwar = { offset = 16 }";

/// The routings of a HyperX over their like in a Dragonfly, with the same switch and with that of the
/// thesis: by the first the routing algorithms are compared, the second shows what the switch adds. No
/// load is beyond saturation: shortest paths carry 1/8 under bit complement, and so does Clos-AD.
pub(crate) fn lattices() -> Vec<Comparison> {
    let case = |own, (pattern, load), like, (reference, others)| Comparison {
        own: hyperx(own, pattern, load),
        others: vec![
            dragonfly_alike(like, reference, others),
            dragonfly(6, like, reference, others),
        ],
        bar: 1.3,
        memory_bar: None,
    };
    let uniform = (UN, 0.5);
    let mut comparisons = vec![
        case(MIN, uniform, MIN, uniform),
        case(VLB, (UN, 0.3), VLB, (UN, 0.3)),
        case(VLB, (BC, 0.3), VLB, (ADV, 0.3)),
        case(MIN, (BC, 0.1), MIN, (UN, 0.1)),
    ];
    for own in [HYPERX_UGAL, MIN_AD, CLOS_AD, DIMWAR, OMNIWAR] {
        comparisons.push(case(own, uniform, UGAL, uniform));
    }
    for (own, load) in
        [(MIN_AD, 0.1), (CLOS_AD, 0.1), (HYPERX_UGAL, 0.3), (DIMWAR, 0.3), (OMNIWAR, 0.3)]
    {
        comparisons.push(case(own, (BC, load), UGAL, (ADV, load.min(0.2))));
    }
    comparisons
}

/// Pauses instead of credits, with the response of a switch that reads them at once: the buffers are those of the
/// thesis.
const PFC: &str = "[network.flow_control.pfc]\nresponse = 20\n";

/// Ethernet over credits.
pub(crate) fn ethernet() -> Vec<Comparison> {
    let uniform = "load = 0.5\npattern = \"uniform\"\n";
    let pfc = |routing| Comparison {
        own: Case {
            name: format!("PFC h6 {}", label(routing, UN, 0.5)),
            spec: thesis(6, (1, PFC), routing, uniform),
        },
        others: vec![dragonfly(6, routing, UN, 0.5)],
        bar: 1.6,
        memory_bar: Some(1.5),
    };
    let shares = "[network.classes]\ncount = 4\nschedule = { ets = [10, 20, 30, 40] }\n";
    // As many streams on both sides: what classes and their schedule cost, and not what streams do.
    let streams = |classes: u8| {
        let stream = |index| {
            format!(
                "[[traffic.stream]]\nname = \"{index}\"\nclass = {}\nhosts = \"all\"\n\
                 load = 0.125\npattern = \"uniform\"\n",
                index % classes
            )
        };
        let streams: String = (0..4).map(stream).collect();
        format!("load = 0.0\npattern = \"uniform\"\n{streams}")
    };
    let alike = Case {
        name: format!("4 streams, h6 {}", label(MIN, UN, 0.5)),
        spec: thesis(6, (1, ""), MIN, &streams(1)),
    };
    let ets = Comparison {
        own: Case {
            name: format!("PFC, 4 classes, h6 {}", label(MIN, UN, 0.5)),
            spec: thesis(6, (4, &format!("{shares}{PFC}")), MIN, &streams(4)),
        },
        others: vec![alike, dragonfly(6, MIN, UN, 0.5)],
        bar: 2.0,
        memory_bar: None,
    };
    vec![pfc(MIN), pfc(UGAL), ets]
}

/// Congestion points that tell sources of long queues, and rate limiters there, over pauses alone. Both have links to
/// hosts, whose buffers are those of the shorter links.
pub(crate) fn notified() -> Vec<Comparison> {
    const LINK: &str =
        "[network.nic]\nlatency = 15\ninjection_queue = 5040\nlink = { buffer = 720 }\n";
    const QCN: &str = "[network.classes]\ncount = 2\n\
                       [network.congestion_point.qcn]\nq_eq = 100\nsample = { bytes = 600 }\n\
                       notifications = { size = 1 }\n\
                       [network.nic.reaction_point.qcn]\nbyte_counter = 600\ntimer = 4000\n\
                       active_increase = '1/100'\nhyper_increase = '1/20'\nleast_rate = '1/100'\n";
    let case = |(classes, tables): (u8, &str), load| {
        let traffic = format!("load = {load}\npattern = \"uniform\"\n");
        thesis(6, (classes, &format!("{tables}{LINK}{PFC}")), MIN, &traffic)
    };
    let compare = |load| {
        let label = label(MIN, UN, load);
        let own = Case { name: format!("QCN, limiters, h6 {label}"), spec: case((2, QCN), load) };
        let pfc = Case { name: format!("PFC h6 {label}"), spec: case((1, ""), load) };
        Comparison { own, others: vec![pfc], bar: 1.5, memory_bar: None }
    };
    [0.5, 0.9].map(compare).into()
}

/// Minimal routing by tables over minimal routing, with a rule for every other group, switch of the group and host of
/// the switch.
pub(crate) fn tables() -> Vec<Comparison> {
    let compare = |load| {
        let minimal = dragonfly(6, MIN, UN, load);
        let mut own = dragonfly(6, MIN, UN, load);
        own.spec.routing = Routing::Table(TableSpec {
            rules: Some(rules(&own.spec)),
            addressing: Addressing::PerGroup,
            ..TableSpec::default()
        });
        own.name = own.name.replace("minimal", "tables");
        Comparison { own, others: vec![minimal], bar: 1.2, memory_bar: None }
    };
    [0.1, 0.5, 0.9].map(compare).into()
}

/// The rules of minimal routing in a Dragonfly with h = 6.
fn rules(spec: &Spec) -> String {
    const GROUPS: u32 = 73;
    const SWITCHES: u32 = 12;
    const HOSTS: u32 = 6;
    let built = Simulation::build(spec).unwrap_or_else(|error| panic!("{error}"));
    let topology = built.topology();
    // Fields of 7, 4 and 3 bits behind the octet 0x02.
    let address = |group: u32, switch: u32, host: u32| {
        0x02 << 40 | u64::from(group) << 7 | u64::from(switch) << 3 | u64::from(host)
    };
    let mut text = String::from("router,destination,destination_mask,ports\n");
    for router in 0..GROUPS * SWITCHES {
        let (group, switch) = (router / SWITCHES, router % SWITCHES);
        let mut rule = |to: u64, open: u64, port: u32| {
            text += &format!("{router},{to},{},{port}\n", ((1 << 48) - 1) & !open);
        };
        let next = |to| u32::from(topology.next_hop(RouterId(router), RouterId(to)).port.0);
        for other in (0..GROUPS).filter(|other| *other != group) {
            rule(address(other, 0, 0), 0x7f, next(other * SWITCHES));
        }
        for other in (0..SWITCHES).filter(|other| *other != switch) {
            rule(address(group, other, 0), 0x7, next(group * SWITCHES + other));
        }
        for host in 0..HOSTS {
            rule(address(group, switch, host), 0, host);
        }
    }
    text
}

/// Networks that are full over the same below their saturation.
pub(crate) fn full() -> Vec<Comparison> {
    let case = |h, routing, pattern, (full, below)| {
        let own = dragonfly(h, routing, pattern, full);
        let name = format!("full {}", own.name);
        let others = vec![dragonfly(h, routing, pattern, below)];
        Comparison { own: Case { name, ..own }, others, bar: 1.3, memory_bar: None }
    };
    vec![
        case(4, VLB, UN, (0.9, 0.4)),
        case(6, VLB, UN, (0.9, 0.4)),
        case(4, MIN, ADV, (0.2, 0.05)),
        case(6, PB, UN, (1.0, 0.5)),
        case(6, "lian = {}", ADV, (0.6, 0.3)),
    ]
}

/// Converged Ethernet: a 2-ary 5-tree whose switches adapt to notifications, with rate limiters, at 10 Gb/s.
fn converged_ethernet() -> Case {
    let link = "{ latency = \"500 ns\", vcs = 2, buffer = \"100 KB\" }";
    let spec = parse(&format!(
        "[units]\ncycle = \"10 ns\"\nphit = \"12.5 B\"\n\
         [network]\ntopology = {{ kary_tree = {{ k = 2, levels = 5 }} }}\nclasses = {{ count = 2 }}\n\
         [network.links]\nlevel1 = {link}\nlevel2 = {link}\nlevel3 = {link}\nlevel4 = {link}\n\
         [network.switch.input_buffered_output_queued]\npipeline = \"100 ns\"\n\
         [network.flow_control.pfc]\nxoff = \"95 KB\"\nxon = \"80 KB\"\nresponse = 0\n\
         [network.congestion_point.qcn]\nq_eq = \"20 KB\"\nlaw = \"linear\"\n\
         notifications = {{ path = \"random-up\" }}\n\
         [network.nic]\nlatency = \"500 ns\"\ninjection_queue = \"512 KB\"\n\
         link = {{ buffer = \"100 KB\" }}\nresequencing = {{}}\n\
         reaction_point = {{ qcn = {{ least_rate = \"100 kb/s\" }} }}\n\
         [routing.switch_ar]\n\
         [traffic]\nload = 0.9\npacket_size = \"1500 B\"\npattern = \"bit_reverse\"\n\
         [run]\nwarmup = \"10 ms\"\nmeasure = \"40 ms\"\n"
    ));
    Case { name: "32 hosts, Switch AR, rate limiters".to_owned(), spec }
}

/// Whole networks, and at most how many CPU seconds a millisecond of them may take.
pub(crate) fn cells() -> [(Case, f64); 6] {
    const FIFO: &str = "input_queued = { routed = \"arrival\", \
                        allocator = { iterations = 3, pointer = \"on-grant\" } }";
    const VOQS: &str = "virtual_output_queued = { iterations = 3 }";
    const ADAPTIVE: &str = "up_adaptive = { ties = \"mod-k\", trigger = \"TH\" }";
    let credits = "credits = {}";
    let large = |name, stages, queuing, routing| (fat_tree(name, stages, queuing, routing), 120.0);
    [
        large("DBBM, oblivious", (FIFO, credits), "dbbm", "up_oblivious = {}"),
        large("DBBM, TH-*S-K", (FIFO, credits), "dbbm", ADAPTIVE),
        large("vFtree, VOQs, D-mod-K", (VOQS, credits), "vftree", "mod_k = {}"),
        large("vFtree, VOQs, TH-*S-K", (VOQS, credits), "vftree", ADAPTIVE),
        large("DBBM, oblivious, PFC", (FIFO, "pfc = {}"), "dbbm", "up_oblivious = {}"),
        // A minute for 50 ms.
        (converged_ethernet(), 1.2),
    ]
}
