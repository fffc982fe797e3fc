//! Restricted path selection up a fat tree: Rocher-Gonzalez et al., Algorithm 1.

use deroute::ids::{HostId, PortId, RouterId, VcId};
use deroute::rng::Stream;
use deroute::routing::Header;

use super::{Chosen, Head, Network, dice};
use crate::support::{self, value};

/// Ports of a switch that lead up; as many lead down.
const K: usize = 4;

/// Credits of a queue, and those of the two thresholds: a quarter and a half.
const ALL: u32 = 40;
const LTTH: u32 = 10;
const HTTH: u32 = 20;

/// Queues of each port: classes of the queuing scheme.
const QUEUES: usize = 3;

/// `RestrictedPathSelection` of one switch, with all ports in the list: the lines of Algorithm 1.
#[derive(Default)]
struct Selection {
    port_congested: [[bool; QUEUES]; K],
}

impl Selection {
    /// Lines 20 to 25: the first port with most credits, if they are more than LTTh.
    fn most_credits(credits: [u32; K], mut port: usize) -> usize {
        let mut max_credits = LTTH;
        for (i, &credits) in credits.iter().enumerate() {
            if credits > max_credits {
                (max_credits, port) = (credits, i);
                if max_credits == ALL {
                    break;
                }
            }
        }
        port
    }

    /// Lines 17 to 26.
    fn th(&mut self, port: usize, _queue: usize, credits: [u32; K]) -> usize {
        if credits[port] < LTTH { Self::most_credits(credits, port) } else { port }
    }

    /// Lines 27 to 38.
    fn two_th(&mut self, port: usize, queue: usize, credits: [u32; K]) -> usize {
        let congested = &mut self.port_congested[port][queue];
        if credits[port] < LTTH || *congested {
            if credits[port] < HTTH {
                *congested = true;
                return Self::most_credits(credits, port);
            }
            *congested = false;
        }
        port
    }
}

/// What was decided for packets whose port of D-mod-K had credits below LTTh, below HTTh and others: how many stayed,
/// and how many left it.
type Seen = [[u32; 2]; 3];

/// Packets of all queues at a switch of the first stage and at one of the second, past credits around the thresholds:
/// each goes where the algorithm says.
fn select(trigger: &str, says: fn(&mut Selection, usize, usize, [u32; K]) -> usize) -> Seen {
    let mut spec = support::network("{ rlft = { ports = 8, stages = 3 } }");
    spec.network.queuing = Some(value("{ dbbm = {} }"));
    spec.network.links.values_mut().for_each(|link| link.buffer = u64::from(ALL).into());
    let keys = format!("trigger = '{trigger}', ties = 'first'");
    spec.routing = value(&format!("{{ up_adaptive = {{ {keys} }} }}"));
    let mut network = Network::new(&spec);
    let leaf = network.topology.router_of(HostId(0));
    let (_, second, _) = network.links(leaf)[0];
    let (mut dice, mut seen) = (dice(), Seen::default());
    let mut switches = [(leaf, Selection::default()), (second, Selection::default())];
    for n in 0..20_000 {
        let (stage, queue) = (n % 2, dice.below(QUEUES as u32) as usize);
        let (router, selection) = &mut switches[stage];
        // A host of another group: two stages up.
        let to = (K * K) as u32 + dice.below(network.topology.hosts() - (K * K) as u32);
        let d_mod_k = to as usize / [1, K][stage] % K;
        let credits = credits(&mut dice);
        let port = choose(&mut network, *router, (HostId(to), queue), credits);
        let expected = says(selection, d_mod_k, queue, credits);
        assert_eq!(port, expected, "{trigger}: stage {stage}, port {d_mod_k} of {credits:?}");
        let band = [LTTH, HTTH].iter().filter(|least| credits[d_mod_k] >= **least).count();
        seen[band][usize::from(port != d_mod_k)] += 1;
    }
    seen
}

/// Credits of one queue at every port: few everywhere, or around the thresholds.
fn credits(dice: &mut Stream) -> [u32; K] {
    let few = dice.below(4) == 0;
    std::array::from_fn(|_| match dice.below(8) {
        _ if few => dice.below(LTTH + 1),
        0 => ALL,
        1 => dice.below(ALL + 1),
        2..5 => LTTH - 1 + dice.below(3),
        _ => HTTH - 1 + dice.below(3),
    })
}

/// The port up that a switch chooses for a packet to a host, in a queue whose ports have such credits.
fn choose(
    network: &mut Network,
    router: RouterId,
    (to, queue): (HostId, usize),
    credits: [u32; K],
) -> usize {
    let (at, port) = network.topology.home_of(to);
    let head = Head { router, input: PortId(0), vc: VcId(0), class: queue as u8, port };
    // Ports that lead down come first.
    let lengths = [0; K].into_iter().chain(credits.map(|credits| ALL - credits));
    let queues = Chosen(lengths.map(|length| vec![length]).collect());
    let hop = network.decide(&head, &mut Header::new(at), &queues);
    hop.port.index() - K
}

/// TH: a packet leaves the port of D-mod-K if its queue there has fewer credits than LTTh, for the first port with
/// most credits, more than LTTh.
#[test]
fn th_leaves_a_port_with_fewer_credits_than_ltth() {
    let [below, between, above] = select("TH", Selection::th);
    assert!(below.iter().all(|packets| *packets > 100), "{below:?}");
    assert!(between[0] > 100 && above[0] > 100, "{between:?} {above:?}");
    assert_eq!([between[1], above[1]], [0; 2]);
}

/// 2TH: a queue is congested from fewer credits than LTTh until HTTh are free, and packets leave its port as long: with
/// credits between the two, some stay and some leave.
#[test]
fn two_th_counts_a_queue_as_congested_until_htth_are_free() {
    let [below, between, above] = select("2TH", Selection::two_th);
    assert!([below, between].as_flattened().iter().all(|packets| *packets > 100));
    assert!(above[0] > 100 && above[1] == 0, "{above:?}");
}
