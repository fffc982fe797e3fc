//! What moves the same data as the engine without deciding anything.

use std::hint::black_box;

use cpu_time::ProcessTime;

/// The floor's ports: as many, and as wide, as those of a partition at h=6.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Input {
    head: u32,
    tail: u32,
    busy_until: u32,
    upstream: u32,
}

#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Output {
    link_free: u32,
    queued: u32,
    sent: u32,
    credits: [u32; 4],
}

#[derive(Clone, Copy, Default)]
struct Packet {
    next: u32,
    arrival: u32,
    hops: u32,
    rest: [u32; 5],
}

/// 48 routers of 23 ports.
const PORTS: u32 = 1104;
/// Packets in such a partition at half load.
const PACKETS: u32 = 8_000;
const SLOTS: usize = 512;
const NONE: u32 = u32::MAX;

/// Moves packets between ports, by the engine's events, with nothing to decide: where a packet goes
/// is computed from its number. Returns CPU nanoseconds per hop.
pub(crate) fn floor() -> f64 {
    let port = |n: u32| Input { head: NONE, tail: NONE, upstream: n * 31 % PORTS, busy_until: 0 };
    let mut inputs: Vec<Input> = (0..PORTS).map(port).collect();
    let mut outputs = vec![Output { credits: [1 << 30; 4], ..Output::default() }; PORTS as usize];
    let mut pool = vec![Packet::default(); 64];
    let mut free: Vec<u32> = (0..64).collect();
    let mut flights: Vec<Vec<(u32, Packet)>> = vec![Vec::new(); SLOTS];
    let mut returns: Vec<Vec<u32>> = vec![Vec::new(); SLOTS];
    for n in 0..PACKETS {
        let packet = Packet { rest: [n.wrapping_mul(2_654_435_761); 5], ..Packet::default() };
        flights[1 + n as usize % 240].push((n % PORTS, packet));
    }
    let start = ProcessTime::now();
    let (mut hops, mut now) = (0u64, 0u32);
    while hops < 4_000_000 {
        now += 1;
        let slot = now as usize % SLOTS;
        let mut due = std::mem::take(&mut returns[slot]);
        for index in due.drain(..) {
            let output = &mut outputs[index as usize];
            (output.credits[0], output.queued) = (output.credits[0] + 10, output.queued - 10);
        }
        returns[slot] = due;
        let mut due = std::mem::take(&mut flights[slot]);
        for (index, mut packet) in due.drain(..) {
            // Into a buffer ...
            (packet.next, packet.arrival) = (NONE, now);
            let place = free.pop().unwrap_or(0);
            pool[place as usize] = packet;
            let input = &mut inputs[index as usize];
            (input.head, input.tail) = (place, place);
            // ... out of it, with a credit for the sender ...
            let mut packet = pool[input.head as usize];
            free.push(input.head);
            (input.head, input.busy_until) = (packet.next, now + 10);
            outputs[input.upstream as usize].queued += 10;
            returns[(now as usize + 15) % SLOTS].push(input.upstream);
            // ... and to the next buffer.
            packet.hops += 1;
            packet.rest[0] = packet.rest[0].wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let to = ((u64::from(packet.rest[0]) * u64::from(PORTS)) >> 32) as u32;
            let output = &mut outputs[to as usize];
            output.link_free = output.link_free.max(now + 90) + 10;
            output.credits[0] -= 10;
            output.sent += 10;
            let delay = (output.link_free - now).min(260) + 15;
            flights[(now + delay) as usize % SLOTS].push((to, packet));
            hops += 1;
        }
        flights[slot] = due;
    }
    black_box((&pool, &inputs));
    start.elapsed().as_secs_f64() * 1e9 / hops as f64
}
