//! Detours by rules of programmable switches: LIAN and ACOR without credits, marks as notifications, and congestion
//! of endpoints told from that of the network.

use deroute::ids::{PortId, RouterId};
use deroute::outcome::Outcome;
use deroute::probe::PathKind;
use deroute::rng::{Owner, Stream};
use deroute::routing::{About, Header, Injection, Place, Queue, Routing};
use deroute::spec::Spec;

use crate::conditional::{deeds, run};
use crate::notified::{
    ABOUT, COMBINED, DRAGONFLY, OUTPUT, agent, near, network, probabilities, tell_of, view,
};
use crate::support::catalogue::PAUSES;
use crate::support::{self, value};

const DETOUR: About = About { diverted: true, place: Place::Network };

/// What the agent of router 0 says of itself, by name.
fn state(agent: &mut dyn Routing, name: &str, now: u32) -> f64 {
    let mut values = Vec::new();
    agent.read(RouterId(0), now, &mut values);
    let at = agent.gauges().iter().position(|gauge| gauge == name).expect("a gauge");
    values[at]
}

/// The kind of the path of a packet from host 0 of router 0 to the last group, and the port that it takes.
fn path(agent: &mut dyn Routing, rng: &mut Stream, now: u32) -> (PathKind, u16) {
    let mut header = Header::new(RouterId(31));
    let mut view = view(rng, now);
    let port = agent.route(&mut view, &mut header).port.0;
    (header.kind(), port)
}

/// More notifications of packets on detours than `raise` bring longer detours, and an interval with fewer than
/// `lower` shorter ones. Those of minimal paths and of hosts that get too much count nowhere.
#[test]
fn levels_follow_notifications() {
    let keys = "trigger = 'notifications', interval = 100, raise = [1, 2], lower = [1, 1]";
    let routing = format!("{{ valiant = {{ phase_a = {{ acor = {{ {keys} }} }} }} }}");
    let mut agent = agent(DRAGONFLY, &routing);
    let mut level = |told: &[About], now| {
        told.iter().for_each(|about| tell_of(&mut *agent, (5, 9, now), *about));
        state(&mut *agent, "level", now)
    };
    let endpoint = About { place: Place::Endpoint, ..DETOUR };
    assert_eq!(level(&[ABOUT, ABOUT, ABOUT, endpoint, endpoint], 1), 1.0);
    assert_eq!(level(&[DETOUR], 2), 1.0);
    assert_eq!(level(&[DETOUR], 3), 2.0);
    assert_eq!(level(&[DETOUR, DETOUR], 4), 2.0);
    let marked = About { place: Place::Unknown, ..DETOUR };
    assert_eq!(level(&[marked], 5), 3.0);
    // One in an interval keeps the level, and none lowers it.
    assert_eq!(level(&[DETOUR], 150), 2.0, "the interval of the rise had none after it");
    assert_eq!(level(&[], 201), 2.0);
    assert_eq!(level(&[], 300), 1.0);
}

/// The kinds of the paths of 200 packets.
fn kinds(agent: &mut dyn Routing) -> Vec<PathKind> {
    let mut rng = Stream::new(3, Owner::Router(0));
    let mut found = (0..200).map(|_| path(agent, &mut rng, 10).0).collect::<Vec<_>>();
    found.sort_by_key(|kind| *kind as u8);
    found.dedup();
    found
}

/// QCN-Switch diverts by notifications alone, over detours with the local hops that the counters of LIAN ask for.
#[test]
fn counters_choose_the_detour() {
    let lian = "lian = { window = 50, ilc_threshold = 3, gcs_threshold = 4, sgc_threshold = 0 }";
    let routing = format!("{{ qcn_switch = {{ feedback = 'base', phase_a = {{ {lian} }} }} }}");
    let mut agent = agent(DRAGONFLY, &routing);
    let send = |agent: &mut dyn Routing, to: u32, packets: u32| {
        let queue = Queue { router: RouterId(0), port: PortId(0), number: 0, now: 10 };
        for _ in 0..packets {
            for event in [Injection::Entered, Injection::Left] {
                agent.injection(queue, event, &Header::new(RouterId(to)));
            }
        }
    };
    assert_eq!(kinds(&mut *agent), [PathKind::Minimal], "nobody has told anything");
    for port in 2..7 {
        tell_of(&mut *agent, (port, 63, 0), ABOUT);
    }
    // 1.6% are minimal still.
    let detours = |agent: &mut dyn Routing| {
        kinds(agent).into_iter().filter(|kind| *kind != PathKind::Minimal).collect::<Vec<_>>()
    };
    assert_eq!(detours(&mut *agent), [PathKind::G]);
    send(&mut *agent, 31, 30);
    let longer = detours(&mut *agent);
    assert!(longer != [PathKind::G] && longer.len() == 1, "{longer:?}");
    assert!(deeds_of(&*agent, "diverted") > 150 && deeds_of(&*agent, "notifications") == 5);
    // Packets of the own group are counted nowhere.
    let mut quiet = self::agent(DRAGONFLY, &routing);
    send(&mut *quiet, 1, 30);
    (2..7).for_each(|port| tell_of(&mut *quiet, (port, 63, 0), ABOUT));
    assert_eq!(detours(&mut *quiet), [PathKind::G]);
}

fn deeds_of(agent: &dyn Routing, name: &str) -> u64 {
    agent.deeds().into_iter().find(|deed| deed.0 == name).expect("a deed").1
}

/// What is told of an endpoint lowers no probability if it is to be ignored, and what a receiver tells of a detour
/// never does: it came by the port of the minimal path.
#[test]
fn some_notifications_change_no_probability() {
    let endpoint = About { diverted: false, place: Place::Endpoint };
    let unknown = |diverted| About { diverted, place: Place::Unknown };
    for (rule, about, left) in [
        ("count", endpoint, 1.5625),
        ("ignored", endpoint, 100.0),
        ("ignored", ABOUT, 1.5625),
        ("ignored", DETOUR, 1.5625),
        ("count", unknown(false), 1.5625),
        ("count", unknown(true), 100.0),
    ] {
        let routing = format!("{{ qcn_switch = {{ feedback = 'base', endpoint = '{rule}' }} }}");
        let mut agent = agent(DRAGONFLY, &routing);
        tell_of(&mut *agent, (5, 63, 0), about);
        near(&probabilities(&mut *agent)[3..4], &[left]);
    }
}

const ADVERSE: &str = "{ adversarial = { offset = 1 } }";

/// A Dragonfly under adversarial traffic, with marks that receivers tell of.
fn marked(routing: &str) -> Spec {
    let mut spec = network(DRAGONFLY, routing, OUTPUT, (COMBINED, PAUSES[0]));
    spec.network.congestion_point = Some(value("{ ecn = { kmin = 10, kmax = 40, pmax = 0.5 } }"));
    let cnp = "{ cnp = { interval = 200, notifications = { size = 2 } } }";
    spec.network.nic.notification_point = Some(value(cnp));
    (spec.network.nic.latency, spec.network.nic.link) = (2.into(), Some(value("{ buffer = 300 }")));
    spec.network.nic.injection_queue = Some(300.into());
    spec.traffic.pattern = value(ADVERSE);
    spec.traffic.load = 0.3;
    spec.run.measure = 6_000.into();
    spec
}

/// Marks that receivers report are a trigger as well: more is accepted than by minimal paths, for any division.
#[test]
fn marks_divert() {
    let minimal = run(&marked("{ minimal = {} }")).load.accepted;
    for routing in [
        "{ qcn_switch = { feedback = 'base' } }",
        "{ qcn_switch = { feedback = 'base', phase_a = { acor = { trigger = 'notifications', \
           interval = 500, raise = [3, 6], lower = [1, 3] } } } }",
        "{ qcn_switch = { feedback = 'base', phase_a = { lian = { window = 60 } } } }",
    ] {
        let spec = marked(routing);
        let one = run(&spec);
        assert!(one.load.accepted > 1.3 * minimal, "{routing}: {} {minimal}", one.load.accepted);
        assert!(deeds(&one).counts["notifications"] > 100, "{routing}");
        let options = deroute::RunOptions { partitions: Some(5), ..Default::default() };
        assert!(one == support::attempt(&spec, &options).expect("it runs"), "{routing}");
    }
}

/// Three hosts of other groups send to one more than it takes.
fn incast(rule: &str, follows: &str) -> Outcome {
    let routing = format!("{{ qcn_switch = {{ feedback = 'base', endpoint = '{rule}' }} }}");
    let mut spec = network(DRAGONFLY, &routing, OUTPUT, (COMBINED, PAUSES[0]));
    (spec.network.nic.latency, spec.network.nic.link) = (2.into(), Some(value("{ buffer = 300 }")));
    spec.network.nic.injection_queue = Some(300.into());
    let law = "byte_counter = 200, timer = 2000, least_rate = '1/1000', active_increase = '1/200', \
               hyper_increase = '1/20'";
    let reaction = format!("{{ qcn = {{ follows = '{follows}', {law} }} }}");
    spec.network.nic.reaction_point = Some(value(&reaction));
    spec.traffic.load = 0.0;
    spec.traffic.streams = value(
        "[{ name = 'incast', hosts = [8, 24, 40], load = 0.5, destinations = { any = [0] } }]",
    );
    spec.run.measure = 8_000.into();
    run(&spec)
}

/// No detour avoids the link to a host: where endpoints are told from the network, fewer packets take one, and the hosts
/// slow down all the same. Where only endpoints are followed, what the network tells cuts no rate.
#[test]
fn endpoints_are_left_to_their_hosts() {
    let (all, apart) = (incast("count", "all"), incast("ignored", "endpoint"));
    let diverted = |outcome: &Outcome| deeds(outcome).counts["diverted"];
    assert!(diverted(&all) > 3 * diverted(&apart), "{:?} {:?}", deeds(&all), deeds(&apart));
    assert!(deeds(&apart).counts["ignored"] > 20, "{:?}", deeds(&apart));
    let cuts = |outcome: &Outcome| outcome.reaction_point.as_ref().map_or(0, |used| used.cuts);
    let told = apart.notifications.as_ref().map_or(0, |told| told.sent);
    assert!(cuts(&apart) > 20 && cuts(&apart) <= told, "{} {}", cuts(&apart), told);
    assert!(apart.load.accepted > 0.9 * all.load.accepted);
}
