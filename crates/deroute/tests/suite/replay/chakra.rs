//! Graphs of Chakra, which may leave things out; and what a job does not replay, but `deroute trace convert` reads.

use deroute::Simulation;

use super::{Written, archive, completed, data, ideal, job};

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn message(field: u64, content: &[u8]) -> Vec<u8> {
    [varint(field << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

/// An attribute with a whole number.
fn attribute(name: &str, value: u64) -> Vec<u8> {
    message(10, &[message(1, name.as_bytes()), number(9, value)].concat())
}

/// A node of a kind, what it needs, how long it takes, and more.
fn node(id: u64, kind: u64, needs: &[u64], microseconds: u64, more: &[u8]) -> Vec<u8> {
    let needs: Vec<u8> = needs.iter().flat_map(|other| number(5, *other)).collect();
    let parts = [number(1, id), number(3, kind), needs, number(7, microseconds), more.to_vec()];
    let content = parts.concat();
    [varint(content.len() as u64), content].concat()
}

/// What is in the file of a rank.
fn content(nodes: &[Vec<u8>]) -> Vec<u8> {
    let head = [varint(2), number(1, 0)].concat();
    [head, nodes.concat()].concat()
}

/// A graph of one rank.
fn graph(nodes: &[Vec<u8>]) -> Written {
    Written::with_end(content(nodes), ".0.et")
}

fn refusal(file: &Written) -> String {
    let spec = ideal(2, 999, file.path(), "");
    Simulation::build(&spec).err().expect("nothing that could be replayed").message
}

#[test]
fn what_is_left_out() {
    // The call around a collective has no kind and takes its time; 99 is not in the file and has ended.
    let file = graph(&[
        node(1, 4, &[], 2, &[]),
        node(2, 7, &[1, 99], 3, &[]),
        node(3, 7, &[2], 0, &[attribute("comm_type", 0), attribute("comm_size", 64)].concat()),
        node(4, 4, &[3, 98], 1, &[]),
    ]);
    let outcome = completed(&ideal(2, 999, file.path(), ""));
    assert_eq!(job(&outcome).time, 6_000);
}

/// The bytes of an all-gather are those of a member, as in astra-sim; what the others divide is given as a whole.
#[test]
fn sizes_of_collectives() {
    let phits = |kind: u64| {
        let sizes = [attribute("comm_type", kind), attribute("comm_size", 1 << 20)].concat();
        let one = content(&[node(1, 7, &[], 0, &sizes)]);
        let ranks: Vec<_> = (0..8).map(|rank| (format!("all.{rank}.et"), one.clone())).collect();
        let file = Written::with_end(archive(&ranks), ".tar");
        job(&completed(&ideal(8, 999, file.path(), ""))).messages.phits
    };
    let (allgather, alltoall, reduce_scatter) = (2, 6, 7);
    assert_eq!(phits(allgather), 58_720_256);
    assert_eq!((phits(alltoall), phits(reduce_scatter)), (7 << 20, 7 << 20));
}

/// What is wrong with all files together is told with a byte as well.
#[test]
fn places_are_bytes() {
    let send = [attribute("comm_dst", 1), attribute("comm_size", 8)].concat();
    let sum = [attribute("comm_type", 0), attribute("comm_size", 8)].concat();
    for (kind, attributes, told) in [
        (5, send, "t.0.et, byte 3: rank 1 does not receive all messages of rank 0 with tag 0"),
        (7, sum, "t.0.et, byte 3: rank 0 takes part in a allreduce that rank 1 takes no part in"),
    ] {
        let nodes = [vec![node(1, kind, &[], 0, &attributes)], vec![node(1, 4, &[], 1, &[])]];
        let file = |rank: usize| (format!("t.{rank}.et"), content(&nodes[rank]));
        let file = Written::with_end(archive(&[file(0), file(1)]), ".tar");
        let error = refusal(&file);
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn operations() {
    let file = graph(&[
        node(1, 4, &[], 0, &attribute("num_ops", 4_000)),
        // A duration counts more than operations do.
        node(2, 4, &[1], 1, &attribute("num_ops", 4_000)),
    ]);
    let outcome = completed(&ideal(2, 999, file.path(), "trace.flops = 2e9"));
    assert_eq!(job(&outcome).time, 3_000);
    for (field, content) in [(3, 4_000_f64.to_bits()), (15, 8_000), (17, 8_000)] {
        let number = match field {
            3 => [varint(field << 3 | 1), content.to_le_bytes().to_vec()].concat(),
            _ => number(field, content),
        };
        let operations = message(10, &[message(1, b"num_ops"), number].concat());
        let one = graph(&[node(1, 4, &[], 0, &operations)]);
        let outcome = completed(&ideal(2, 999, one.path(), "trace.flops = 2e9"));
        assert_eq!(job(&outcome).time, 2_000, "field {field}");
    }
    let float = [varint(5 << 3 | 5), (-1_f32).to_le_bytes().to_vec()].concat();
    let operations = message(10, &[message(1, b"num_ops"), float].concat());
    let told = refusal(&graph(&[node(1, 4, &[], 0, &operations)]));
    assert!(told.contains("-1 is no number of anything"), "{told}");
    let told = refusal(&file);
    assert!(told.contains("byte 3: node 1: operations take no time that is known"), "{told}");
}

/// The trace of a rank of PyTorch is read to its end, but what it needs by data and by control goes round.
#[test]
fn pytorch() {
    let spec = ideal(2, 999, &data("chakra/pytorch.0.et.gz"), "");
    let told = Simulation::build(&spec).err().expect("nothing that could be replayed").message;
    assert!(told.contains("what rank 0 does needs itself"), "{told}");
}

#[test]
fn advice() {
    for (content, end, told) in [
        ("OTF2", ".otf2", "OTF2 has to be converted before: deroute trace convert"),
        ("OTF2", ".def", "OTF2 has to be converted before"),
        ("X model_parallel_NPU_group: 1\n", "", "SimAI have to be converted before"),
        ("\u{2}\u{8}", ".et", "named PREFIX.R.et, R is its rank"),
    ] {
        let error = refusal(&Written::with_end(content, end));
        assert!(error.contains("begins like no trace") && error.contains(told), "{error}");
    }
}
