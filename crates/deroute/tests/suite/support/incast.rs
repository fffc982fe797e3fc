//! Where controls of the senders are tested: hosts behind one switch that send to one of them, and loaded networks.

use deroute::spec::{Spec, Warmup};

use super::catalogue::HOLDING_SWITCHES;
use super::{network, parse, value};

/// Hosts behind one switch, all but the last of which send all they can to that one, in packets of 50 B phits.
pub struct Incast<'a> {
    pub senders: u32,
    /// Time of a phit on the link of a host, and how far it is from the switch.
    pub cycle: &'a str,
    pub latency: &'a str,
    /// Phits of a packet.
    pub packet: u32,
    pub pipeline: u32,
    /// Flow control, and the buffer of each host at the switch.
    pub control: &'a str,
    pub buffer: &'a str,
    /// Further lines of `network` and of `network.nic`.
    pub network: &'a str,
    pub nic: &'a str,
    pub warmup: &'a str,
    pub measure: &'a str,
}

impl Default for Incast<'_> {
    /// 40 Gb/s, and packets of 1 KB.
    fn default() -> Self {
        Self {
            senders: 2,
            cycle: "10 ns",
            latency: "500 ns",
            packet: 20,
            pipeline: 0,
            control: "{ pfc = {} }",
            buffer: "'8 MB'",
            network: "",
            nic: "",
            warmup: "100 us",
            measure: "500 us",
        }
    }
}

impl Incast<'_> {
    pub fn spec(&self) -> Spec {
        let Self { senders, cycle, latency, packet, pipeline, control, buffer, .. } = self;
        let Self { network, nic, warmup, measure, .. } = self;
        parse(&format!(
            "[units]\ncycle = \"{cycle}\"\nphit = \"50 B\"\n\
             [network]\ntopology = {{ crossbar = {{ hosts = {hosts} }} }}\nclasses = {{ count = 2 }}\n\
             flow_control = {control}\n\
             switch = {{ input_buffered_output_queued = {{ pipeline = {pipeline} }} }}\n{network}\n\
             [network.nic]\nlatency = \"{latency}\"\ninjection_queue = \"100 KB\"\n\
             link = {{ buffer = {buffer} }}\n{nic}\n\
             [routing.minimal]\n\
             [traffic]\nload = 0.0\npacket_size = {packet}\npattern = \"uniform\"\n\
             stream = [{{ name = \"greedy\", hosts = {{ from = 0, to = {last} }}, load = 1.0, \
                          destinations = {{ any = [{senders}] }} }}]\n\
             [run]\nwarmup = \"{warmup}\"\nmeasure = \"{measure}\"\n",
            hosts = senders + 1,
            last = senders - 1,
        ))
    }
}

/// A network whose hosts send 0.9 of their links, a third of it to one of them, with a class for notifications, a
/// switch by its turn, and all checks.
pub fn loaded((topology, routing): (&str, &str), turn: usize, control: &str, nic: &str) -> Spec {
    let mut spec = network(topology);
    spec.routing = value(routing);
    for link in spec.network.links.values_mut() {
        (link.buffer, link.vcs) = (600.into(), 8.into());
    }
    spec.network.switch = value(match turn % 2 {
        0 => "{ combined_queued = { pipeline = 3, output_buffer = 60 } }",
        _ => HOLDING_SWITCHES[1],
    });
    spec.network.classes = Some(value("{ count = 2 }"));
    spec.network.flow_control = value(control);
    spec.network.nic = value(nic);
    spec.traffic.load = 0.9;
    spec.traffic.hotspots = value("[{ destinations = { any = [1] }, share = 0.3 }]");
    (spec.run.warmup, spec.run.measure) = (Warmup::Fixed(500.into()), 3_000.into());
    spec.checks.full = true;
    spec
}
