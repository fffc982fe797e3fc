//! Pauses: memory that the ports of a switch share, and random configurations that must not lose anything.

use deroute::outcome::{FlowControlUse, Outcome, PauseUse};
use deroute::spec::{Spec, Warmup};
use deroute::{RunOptions, Simulation};
use proptest::prelude::*;
use proptest::sample::select;

use crate::support::catalogue::HOLDING_SWITCHES;
use crate::support::{self, value};

/// So many saturating senders to one output of a switch that keeps packets where they came in. What must stay free in
/// a buffer of 100 phits is 41: two packets of 10, a frame of one, and the way there and back.
fn incast(n: u32, control: &str) -> Spec {
    let senders: Vec<u32> = (0..n).collect();
    support::parse(&format!(
        "[network]\ntopology = {{ crossbar = {{ hosts = {} }} }}\nflow_control = {control}\n\
         nic = {{ latency = 10, injection_queue = 100, link = {{ buffer = 100 }} }}\n\
         switch = {{ input_buffered_output_queued = {{}} }}\n\
         [routing.minimal]\n\
         [traffic]\nload = 1.0\npacket_size = 10\npattern = \"uniform\"\n\
         hotspots = [{{ destinations = {{ any = [{n}] }}, sources = {{ hosts = {senders:?} }} }}]\n\
         [run]\nwarmup = 100_000\nmeasure = 20_000\n[checks]\nfull = true\n",
        n + 1
    ))
}

/// Phits above which and below which the buffers of [`incast`] are their own, and their headroom.
const XOFF: u32 = 59;
const HEADROOM: u32 = 41;

fn used(outcome: &Outcome) -> &FlowControlUse {
    outcome.flow_control.as_ref().expect("a flow control that pauses")
}

/// Of the hosts, or of the only link class.
fn host(outcome: &Outcome) -> &PauseUse {
    used(outcome).links.last().expect("links")
}

/// With a dynamic threshold each of n congested buffers takes alpha B / (1 + n alpha) of the shared memory B.
#[test]
fn congested_buffers_share_memory() {
    let shared = 20_000;
    for n in [2, 4, 7] {
        for alpha in [0.125, 1.0, 8.0] {
            let size = shared + 100 * (n + 1);
            let control = "{ pfc = { response = 0, frame = 1, shared_buffer = ";
            let outcome = support::run(&incast(
                n,
                &format!("{control}{{ size = {size}, alpha = {alpha:?} }} }} }}"),
            ));
            let each = alpha * f64::from(shared) / (1.0 + f64::from(n) * alpha);
            let found = used(&outcome).shared.expect("shared memory");
            assert_eq!(found.size, shared);
            // A packet and the offset of 20 phits by which each may be early or late.
            let off = f64::from(found.used_max) - f64::from(n) * each;
            assert!(off.abs() <= f64::from(30 * n), "n {n}, alpha {alpha}: {found:?}, {each} each");
            let most = f64::from(host(&outcome).buffer_max - XOFF);
            assert!(most > each - 30.0, "n {n}, alpha {alpha}: {most} for {each}");
            assert_eq!(outcome.packets.lost, 0);
            assert_eq!(outcome.arrays.accepted_by_host[n as usize], 1.0, "the output idles");
        }
    }
}

/// A buffer alone takes the largest share `over` for which over <= alpha (B - over), to the packet: here each has 10
/// phits, and the first one that is beyond 59 is so by one.
#[test]
fn one_congested_buffer_takes_its_share_exactly() {
    let shared = 3_000;
    for (alpha, most) in [(0.125, 331), (0.5, 991), (1.0, 1_491), (4.0, 2_391)] {
        let spec = support::parse(&format!(
            "[network]\ntopology = {PAIR}\nswitch = {{ input_buffered_output_queued = {{}} }}\n\
             links = {{ link = {{ latency = 1, vcs = 1, buffer = 100, rate = \"1/16\" }} }}\n\
             nic = {{ latency = 10, injection_queue = 100, link = {{ buffer = 100 }} }}\n\
             flow_control = {{ pfc = {{ response = 0, frame = 1, \
             shared_buffer = {{ size = {}, alpha = {alpha:?} }} }} }}\n\
             [routing.minimal]\n\
             [traffic]\nload = 1.0\npacket_size = 10\npattern = {{ pairs = {{ list = [[0, 2]] }} }}\n\
             [run]\nwarmup = 0\nmeasure = 20_000\n[checks]\nfull = true\n",
            shared + 300
        ));
        assert!(f64::from(most) <= alpha * f64::from(shared - most), "the numbers of this test");
        assert!(
            f64::from(most + 10) > alpha * f64::from(shared - most - 10),
            "the numbers of this test"
        );
        let outcome = support::run(&spec);
        assert_eq!(used(&outcome).shared.expect("shared memory").used_max, most, "alpha {alpha}");
        let held = host(&outcome).buffer_max;
        assert!(XOFF + most < held && held <= XOFF + most + HEADROOM, "alpha {alpha}: {held}");
    }
}

/// A static threshold is what a buffer takes, as long as there is so much; then senders are told to be silent for
/// want of memory, and nothing is lost either.
#[test]
fn static_thresholds_are_kept() {
    for (n, shared, limit) in
        [(2, 20_000, 3_000), (7, 20_000, 500), (4, 2_000, 900), (3, 100, 900), (3, 1, 900)]
    {
        let size = shared + 100 * (n + 1);
        let outcome = support::run(&incast(
            n,
            &format!(
                "{{ pause = {{ response = 0, frame = 1, shared_buffer = {{ size = {size}, limit = {limit} }} }} }}"
            ),
        ));
        let (used, most) =
            (used(&outcome).shared.expect("shared memory"), host(&outcome).buffer_max);
        assert_eq!(outcome.packets.lost, 0);
        assert!(used.used_max <= shared && most <= XOFF + limit.min(shared) + HEADROOM);
        assert!(host(&outcome).stops > 10);
        if n * limit <= shared {
            assert!(used.used_max + 30 * n > n * limit, "{used:?}");
            assert!(most > XOFF + limit, "{most} of {limit}");
        } else if shared >= 100 {
            assert!(used.used_max + 30 * n > shared, "{used:?}");
        }
    }
}

/// Shared memory under every kind of switch: nothing is lost, and the division does not matter.
#[test]
fn shared_memory_loses_nothing_and_divides() {
    let switches = [
        "{ combined_queued = { pipeline = 3, output_buffer = 40 } }",
        "{ virtual_output_queued = { iterations = 2 } }",
        HOLDING_SWITCHES[1],
        HOLDING_SWITCHES[2],
    ];
    let controls = [
        "{ pfc = { response = 2, frame = 3, shared_buffer = { size = 8000, alpha = 0.5 } } }",
        "{ pfc = { response = 2, frame = 3, quanta = 20, shared_buffer = { size = 7000, limit = 300 } } }",
    ];
    for switch in switches {
        for control in controls {
            let mut spec = support::dragonfly(2, 4, 2);
            for link in spec.network.links.values_mut() {
                link.buffer = 120.into();
            }
            (spec.network.nic.latency, spec.network.nic.link) =
                (5.into(), Some(value("{ buffer = 80 }")));
            (spec.network.switch, spec.network.flow_control) = (value(switch), value(control));
            (spec.traffic.load, spec.traffic.packet_size) = (0.9, value("{ min = 1, max = 16 }"));
            spec.traffic.pattern = value("{ adversarial = { offset = 1 } }");
            spec.run.warmup = Warmup::Fixed(500.into());
            spec.run.measure = 4_000.into();
            spec.checks.full = true;
            let one = support::run(&spec);
            for (threads, partitions) in [(1, 9), (2, 4)] {
                let options =
                    RunOptions { threads, partitions: Some(partitions), ..RunOptions::default() };
                let other = support::attempt(&spec, &options).expect("a run");
                assert!(one == other, "{switch} {control}: the division matters");
            }
            let found = used(&one).shared.expect("shared memory");
            assert_eq!(one.packets.lost, 0, "{switch} {control}");
            assert!(found.used_max > 200 && found.used_max <= found.size, "{found:?}");
            assert!(used(&one).links.iter().map(|class| class.stops).sum::<u64>() > 10);
        }
    }
}

/// A small network under bursts, with links of any length and rate, and buffers that have not much more than headroom.
#[derive(Clone, Debug)]
struct Config {
    topology: &'static str,
    pattern: &'static str,
    switch: &'static str,
    control: &'static str,
    latencies: (u32, u32),
    rates: (u32, u32),
    sizes: (u16, u16),
    response: u32,
    frame: u32,
    quanta: Option<u32>,
    /// Phits of a buffer beyond headroom and two packets.
    spare: u32,
    /// Phits between `xoff` and `xon`; two packets if it is not said.
    gap: Option<u32>,
    /// VCs of every link, for other destinations each.
    queues: u8,
    whole: bool,
    load: f64,
    seed: u64,
    shared: Option<(u32, f64)>,
}

const PAIR: &str = "{ graph = { hosts = 2, edges = [[0, 1]] } }";

fn configs() -> impl Strategy<Value = Config> {
    let patterns = [
        "'uniform'",
        "{ pairs = { list = [[0, 1], [1, 0], [2, 0], [2, 1]] } }",
        "{ shift = { by = 1 } }",
    ];
    let switches = [
        "{ input_buffered_output_queued = { pipeline = 2 } }",
        "{ input_buffered_output_queued = { memory_bandwidth = 2 } }",
        "{ combined_queued = { pipeline = 4, output_buffer = 64 } }",
        "{ input_queued = { pipeline = 3 } }",
        "{ output_queued = { output_buffer = 100 } }",
        "{ virtual_output_queued = { iterations = 2 } }",
    ];
    let network = (
        select(vec![PAIR, "{ crossbar = { hosts = 3 } }", "{ crossbar = { hosts = 4 } }"]),
        select(patterns.to_vec()),
        select(switches.to_vec()),
    );
    let links = ((1..30_u32, 1..80_u32), (1..4_u32, 1..4_u32), (1..16_u16, 0..16_u16));
    let control = (
        select(vec!["pfc", "pause"]),
        0..60_u32,
        1..20_u32,
        prop::option::weighted(0.3, 1..200_u32),
    );
    let gap = prop::option::weighted(0.3, 0..20_u32);
    let limits = ((0..60_u32, gap), 1..4_u8, any::<bool>(), 0.6..1.0_f64, any::<u64>());
    let shared = prop::option::weighted(0.3, (0..300_u32, select(vec![0.125, 0.5, 2.0])));
    (network, links, control, limits, shared).prop_map(
        |(network, links, control, limits, shared)| Config {
            topology: network.0,
            pattern: network.1,
            switch: network.2,
            control: control.0,
            latencies: links.0,
            rates: links.1,
            sizes: (links.2.0, links.2.0 + links.2.1),
            response: control.1,
            frame: control.2,
            quanta: control.3,
            spare: limits.0.0,
            gap: limits.0.1,
            queues: limits.1,
            whole: limits.2,
            load: limits.3,
            seed: limits.4,
            shared,
        },
    )
}

impl Config {
    /// Its spec, with links that have so many phits of a buffer for each VC, and hosts' links with so many.
    fn spec(&self, (link, host): (u32, u32), extra: &str) -> Spec {
        let Self { topology, pattern, switch, control, latencies, rates, sizes, .. } = self;
        let Self { response, frame, queues, load, seed, .. } = self;
        let links = match topology.contains("graph") {
            true => format!(
                "links = {{ link = {{ latency = {}, vcs = {queues}, buffer = {link}, rate = \"1/{}\" }} }}\n",
                latencies.1, rates.1
            ),
            false => String::new(),
        };
        let quanta = self.quanta().map_or(String::new(), |quanta| format!(", quanta = {quanta}"));
        let forwarding = if self.whole && !switch.contains("virtual") {
            "forwarding = \"store-and-forward\"\n"
        } else {
            ""
        };
        support::parse(&format!(
            "[network]\ntopology = {topology}\nswitch = {switch}\n{links}{forwarding}\
             queuing = {{ dbbm = {{ queues = {queues} }} }}\n\
             flow_control = {{ {control} = {{ response = {response}, frame = {frame}{quanta}{extra} }} }}\n\
             nic = {{ latency = {}, injection_queue = 200, link = {{ buffer = {host}, rate = \"1/{}\" }} }}\n\
             [routing.minimal]\n\
             [traffic]\nload = {load}\npattern = {pattern}\npacket_size = {{ min = {}, max = {} }}\n\
             hotspots = [{{ destinations = {{ any = [0, 1] }}, start = 150, stop = 1_200 }}]\n\
             [run]\nseed = {}\nwarmup = 0\nmeasure = 1_500\n[checks]\nfull = true\n",
            latencies.0,
            rates.0,
            sizes.0,
            sizes.1,
            seed >> 1
        ))
    }

    /// What must stay free in a buffer behind a link of some latency and rate, from the specification: a packet that is on
    /// the wire when the frame is to go, the frame, the way there and back with the response, and a packet that
    /// has begun. Frames of other VCs may be ahead, and one of its own that is longer than any packet.
    fn headroom(&self, latency: u32, period: u32) -> u32 {
        let on_its_way = (2 * latency + self.response).div_ceil(period);
        2 * u32::from(self.sizes.1) + self.frame + self.ahead() + on_its_way
    }

    fn ahead(&self) -> u32 {
        let others = if self.control == "pfc" { u32::from(self.queues) - 1 } else { 0 };
        others * self.frame + self.frame.saturating_sub(self.sizes.1.into())
    }

    /// Quanta of 512 bits that outlast a frame that renews them at half time and has to wait; a phit has 200.
    fn quanta(&self) -> Option<u32> {
        let wait = (u32::from(self.sizes.1) + self.ahead()) * self.rates.0.max(self.rates.1);
        self.quanta.map(|more| ((2 * wait + 1) * 200).div_ceil(512) + more)
    }

    /// With the least of headroom and `spare` phits beside it.
    fn tight(&self) -> Spec {
        let of = |latency, period| {
            self.headroom(latency, period) + 2 * u32::from(self.sizes.1) + self.spare
        };
        let (link, host) = (of(self.latencies.1, self.rates.1), of(self.latencies.0, self.rates.0));
        let xoff = 2 * u32::from(self.sizes.1) + self.spare;
        let xon = |gap| format!(", xon = {}", xoff.saturating_sub(gap).max(1));
        let xon = self.gap.map_or(String::new(), xon);
        let shared = self.shared.map_or(String::new(), |(phits, alpha)| {
            // All buffers of a switch: up to 4 ports of up to 3 VCs.
            let own = 12 * link.max(host);
            format!(", shared_buffer = {{ size = {}, alpha = {alpha:?} }}", own + phits)
        });
        self.spec((link, host), &format!("{xon}{shared}"))
    }
}

/// Nothing is lost in any configuration whose thresholds are derived, however bursts come.
fn loses_nothing(config: &Config) -> Result<u64, TestCaseError> {
    let spec = config.tight();
    let outcome = support::attempt(&spec, &RunOptions::default());
    let outcome = outcome
        .map_err(|error| TestCaseError::fail(format!("{error}\n{}", support::show(&spec))))?;
    prop_assert_eq!(outcome.packets.lost, 0, "{}", support::show(&spec));
    Ok(used(&outcome).links.iter().map(|class| class.stops).sum())
}

/// Ten thousand of them, also such whose senders go on as soon as a buffer holds no more than `xoff`.
#[test]
fn derived_thresholds_lose_nothing() {
    let (mut paused, mut cases) = (0, 0);
    let counts = std::cell::RefCell::new((&mut paused, &mut cases));
    let result = support::runner(10_000).run(&configs(), |config| {
        let stops = loses_nothing(&config)?;
        let mut counts = counts.borrow_mut();
        *counts.0 += u64::from(stops > 0);
        *counts.1 += 1;
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    // Not all of them are busy enough to pause.
    assert!(3 * paused > cases, "{paused} of {cases}");
}

/// A host that sends all it can to a switch that passes on hardly anything, while the link back is mostly busy: packets
/// of `largest` phits, and a loop (the frame, the way there and back, the response) that ends just before another one.
/// The loop comes with it.
fn worst_case(
    largest: u32,
    (latency, response): (u32, u32),
    (capacity, xoff): (u32, u32),
) -> (Spec, u32) {
    let frame = 1 + (2 * largest - 2 - (2 * latency + response) % largest) % largest;
    let on_its_way = frame + 2 * latency + response;
    // Nothing leaves between the packet that is too much and the last one: ten pauses take a while.
    let rate = (2 * on_its_way + 4 * largest).div_ceil(largest);
    let measure = 12 * (on_its_way + 2 * largest) * rate;
    let spec = support::parse(&format!(
        "[network]\ntopology = {PAIR}\n\
         switch = {{ input_buffered_output_queued = {{}} }}\n\
         links = {{ link = {{ latency = 1, vcs = 1, buffer = 4000, rate = \"1/{rate}\" }} }}\n\
         flow_control = {{ pfc = {{ response = {response}, frame = {frame}, xoff = {xoff}, xon = {xoff}, lossy = true }} }}\n\
         nic = {{ latency = {latency}, injection_queue = 100, link = {{ buffer = {capacity} }} }}\n\
         [routing.minimal]\n\
         [traffic]\nload = 0.95\npacket_size = {largest}\npattern = {{ pairs = {{ list = [[0, 2], [1, 0]] }} }}\n\
         [run]\nwarmup = 0\nmeasure = {measure}\n[checks]\nfull = true\n"
    ));
    (spec, on_its_way)
}

/// In the worst case the derived thresholds lose nothing, and hold exactly what must be on its way; with one packet less
/// of headroom, packets are lost.
#[test]
fn one_packet_less_of_headroom_loses() {
    let cases = (3..30_u32, 1..30_u32, 0..60_u32, 1..5_u32);
    let check = |(largest, latency, response, kept): (u32, u32, u32, u32)| {
        let xoff = kept * largest;
        let (_, on_its_way) = worst_case(largest, (latency, response), (1, 1));
        let headroom = 2 * largest + on_its_way;
        let (spec, _) = worst_case(largest, (latency, response), (xoff + headroom, xoff));
        let outcome = support::run(&spec);
        let PauseUse { stops, buffer_max, .. } = *host(&outcome);
        prop_assert!(stops >= 8, "{}", support::show(&spec));
        prop_assert_eq!(outcome.packets.lost, 0, "{}", support::show(&spec));
        prop_assert_eq!(buffer_max, xoff + on_its_way + largest + 1, "{}", support::show(&spec));
        let (short, _) =
            worst_case(largest, (latency, response), (xoff + headroom - largest, xoff));
        prop_assert!(support::run(&short).packets.lost > 0, "{}", support::show(&short));
        // What can lose a packet is refused unless that is allowed, and says what is missing.
        let mut strict = short;
        let text = serde_json::to_value(&strict.network.flow_control).expect("a table");
        let mut text = text;
        text["pfc"]["lossy"] = false.into();
        strict.network.flow_control = serde_json::from_value(text).expect("a flow control");
        let error = Simulation::build(&strict).err().expect("a refusal");
        prop_assert!(error.to_string().contains(&format!("{largest} phits")), "{error}");
        Ok(())
    };
    support::runner(40).run(&cases, check).unwrap_or_else(|error| panic!("{error}"));
}
