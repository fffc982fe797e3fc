//! Hosts: when packets are generated, and how they come to their routers.

use deroute::ids::HostId;
use deroute::routing::{Header, Injection};
use deroute::spec::Spec;
use deroute::traffic::Source;

use super::resolved::Resolved;
use super::{Model, Packet, Parcel, Phit};

/// What generates packets of one kind at a host.
pub(super) struct Generator {
    /// Which stream of the traffic; none is the other traffic.
    stream: Option<usize>,
    source: Source,
    /// Cycle of its next packet.
    next: u32,
}

impl Generator {
    /// Those of a host.
    pub(super) fn of(net: &Resolved, spec: &Spec, host: HostId) -> Vec<Self> {
        let seed = spec.run.seed;
        let (source, next) = net.workload.source(host, seed);
        let mut all = vec![Self { stream: None, source, next }];
        for (index, stream) in net.workload.streams().iter().enumerate() {
            if stream.hosts().contains(&host) {
                let (source, next) = stream.source(host, seed);
                all.push(Self { stream: Some(index), source, next });
            }
        }
        all
    }
}

impl Model {
    /// Hosts generate packets: of those that are due at a host, one enters its injection queue.
    pub(super) fn generate(&mut self) {
        for host in 0..self.hosts.len() {
            let generators = &self.hosts[host].generators;
            let due = |index: &usize| generators[*index].next <= self.now;
            let mut due: Vec<usize> = (0..generators.len()).filter(due).collect();
            due.sort_by_key(|index| (generators[*index].next, *index));
            for index in due {
                if self.attempt(host, index) {
                    break;
                }
            }
        }
    }

    /// A generator makes a packet. Says whether the injection queue took it.
    fn attempt(&mut self, host: usize, index: usize) -> bool {
        let (now, id) = (self.now, HostId(host as u32));
        let Self { net, hosts, .. } = self;
        let host = &mut hosts[host];
        let Generator { stream, source, next } = &mut host.generators[index];
        let own = stream.map(|index| &net.workload.streams()[index]);
        let traffic = own.map_or(&net.workload, |stream| stream.workload());
        let generated = *next;
        let demand = traffic.demand(id, source, generated);
        *next = traffic.next(id, source, Some(generated));
        let (stream, service) = (*stream, own.map_or(0, |stream| stream.class()));
        let label = stream.map_or(0, |stream| stream as u32 + 1);
        let queue = usize::from(net.flows.queue(service, (id, demand.destination), label));
        let size = u32::from(demand.size);
        let fits = u64::from(host.queued[queue] + size) <= net.injection_queue;
        self.record.attempt(now, size, fits);
        self.record.streams.attempt(stream, (now, size), fits);
        if !fits {
            return false;
        }
        host.queued[queue] += size;
        let to = net.topology.router_of(demand.destination);
        let packet = self.packets.len();
        self.packets.push(Packet {
            source: id,
            destination: demand.destination,
            queue,
            class: queue % usize::from(net.flows.classes()),
            stream,
            size,
            generated,
            injected: u32::MAX,
            blocked: 0,
            whole: 0,
            lost_at: None,
            marked: false,
            header: Header::new(to),
        });
        self.launch(packet);
        true
    }

    /// A generated packet sets out for its router, or waits for the link of its host.
    pub(super) fn launch(&mut self, packet: usize) {
        if self.hosts[self.packets[packet].source.index()].wire.is_some() {
            self.wait_for_link(packet);
            return;
        }
        match self.net.host_latency {
            0 => self.enter(packet),
            latency => self.post(latency, Parcel::Fresh { packet }),
        }
    }

    /// A generated packet reaches its router, whole.
    pub(super) fn enter(&mut self, packet: usize) {
        let now = self.now;
        self.packets[packet].whole = now;
        let Packet { source, queue, size, .. } = self.packets[packet];
        let router = self.net.topology.router_of(source).index();
        let port = self.net.topology.port_of(source).index();
        for index in 0..size {
            self.routers[router].accept(port, queue, (Phit { packet, index }, now));
        }
        if self.watches.injections {
            self.tell(router, port, packet, Injection::Entered);
        }
    }
}
