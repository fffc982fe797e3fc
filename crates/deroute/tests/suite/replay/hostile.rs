//! Files that are no traces, or none that could end.

use deroute::Simulation;
use deroute::rng::{Owner, Stream};

use super::{Written, data, ideal};

fn refusal(text: impl AsRef<[u8]>, format: &str) -> String {
    let file = Written::new(text);
    let spec = ideal(8, 999, file.path(), &format!("trace.format = '{format}'"));
    let error = Simulation::build(&spec).err().expect("nothing that could be replayed");
    assert_eq!(error.path, "workload.jobs[0].trace.file");
    error.message
}

#[test]
fn goal() {
    let two = "num_ranks 2\nrank 0 {\n";
    for (text, told) in [
        ("", "there is no rank in it"),
        ("num_ranks 1000000000\n", "line 1: 1000000000 ranks; there may be 1 to 1048576"),
        ("num_ranks 0\n", "line 1: 0 ranks"),
        ("rank 0 {\n}\n", "line 1: a rank before num_ranks"),
        ("num_ranks 2\nrank 2 {\n", "line 2: there is no rank 2"),
        ("num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", "line 4: rank 0 is there twice"),
        ("num_ranks 2\nrank 0 {\n", "the block of rank 0 has no end"),
        (&format!("{two}send 5 to 1\n}}\n"), "line 3: \"5\" does not end with b"),
        (&format!("{two}send 5b to 7\n}}\n"), "line 3: there is no rank 7"),
        (&format!("{two}send 5b to 1\n}}\n"), "line 3: rank 1 does not receive all messages"),
        (&format!("{two}recv 5b from 1\n}}\n"), "line 3: rank 0 receives more messages"),
        (&format!("{two}recv 5b from -1 tag -1\n}}\n"), "more messages from anybody"),
        (&format!("{two}a: calc 5\na requires b\n}}\n"), "line 4: there is no label b so far"),
        (&format!("{two}a: calc 5\na: calc 5\n}}\n"), "line 4: label a is there twice"),
        (
            &format!("{two}a: calc 5\nb: calc 5\na requires b\nb requires a\n}}\n"),
            "line 7: what rank 0 does needs itself",
        ),
        (&format!("{two}calc 5 cpu 700\n}}\n"), "line 3: \"700\" is no cpu"),
        (&format!("{two}calc 99999999999999\n}}\n"), "more than 2147483647 cycles"),
        (&format!("{two}send 99999999999b to 1\n}}\n"), "more than 1073741823 phits"),
        (&format!("{two}sing 5b to 1\n}}\n"), "line 3: \"5b\" is no statement"),
        (&format!("{two}calc 5 5\n}}\n"), "line 3: \"5\" is not tag, cpu or nic"),
    ] {
        let error = refusal(text, "goal");
        assert!(error.contains(told), "{text:?}: {error}");
    }
}

#[test]
fn goal_binary() {
    let good = std::fs::read(data("goal/one.bin")).expect("there is a sample");
    let changed = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    for (bytes, told) in [
        (good[..20].to_vec(), "byte 14: the file ends here"),
        (changed(0, 0), "byte 8: begins with 0x1000, not 0x107f"),
        (changed(11, 0x40), "byte 12: 1073741826 ranks; there may be"),
        (changed(14, 0x90), "the file ends before the next block"),
        (changed(49, 0xff), "nodes take"),
        (changed(62, 9), "9 is no kind of node"),
        (changed(63, 9), "there is no rank 9"),
        (changed(81, 1), "1 nodes from index 0 of 0 need a node"),
    ] {
        let error = refusal(bytes, "goal-binary");
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn text_of_calls() {
    let head = "mpi-trace 1\nrank 0 of 1\n";
    for (text, told) in [
        ("", "no file begins with mpi-trace"),
        ("mpi-trace 7\n", "line 1: \"mpi-trace 7\" is not version 1"),
        ("mpi-trace 1\nrank 4 of 2\n", "line 2: there is no rank 4"),
        ("mpi-trace 1\nrank 0 of 2\n", "rank 1 of 2 is missing"),
        (&format!("{head}0 0 dance\n"), "line 3: \"dance\" is no call that is known"),
        (&format!("{head}0 0 barrier 9\n"), "line 3: there is no communicator 9 so far"),
        (&format!("{head}comm 3 0,0\n"), "line 3: rank 0 is in communicator 3 twice"),
        (&format!("{head}comm 3 5\n"), "line 3: there is no rank 5"),
        (&format!("{head}0 0 wait 4\n"), "line 3: there is no request 4"),
        (&format!("{head}0 0 bcast 0 3 8\n"), "line 3: rank 3 is not in the communicator"),
        (&format!("{head}0 0 alltoallv 0 1,2\n"), "line 3: 2 sizes for 1 members"),
        (&format!("{head}0 0 send 0 8 -4 0\n"), "line 3: \"-4\" is no tag"),
        (&format!("{head}-5 0 barrier 0\n"), "line 3: \"-5\" is no time"),
        (&format!("{head}0 0\n"), "line 3: a call is missing"),
        (&format!("{head}\u{0}\u{1}\n"), "line 3"),
    ] {
        let error = refusal(text, "mpi-trace");
        assert!(error.contains(told), "{text:?}: {error}");
    }
    let wrong =
        refusal([b"mpi-trace 1\nrank 0 of 1\n".as_slice(), &[0xff, 0xfe]].concat(), "mpi-trace");
    assert!(wrong.contains("line 3: is no text"), "{wrong}");
}

#[test]
fn time_independent() {
    for (text, told) in [
        ("nothing\n", "0 ranks; there may be"),
        ("0 init\n0 compute 5\n", "line 2: operations take no time that is known: `flops`"),
        ("0 init\n1 barrier\n", "line 2: rank 1 in the file of rank 0"),
        ("0 init\n0 wait 3 0 0\n", "line 2: there is no request from rank 3 to rank 0"),
        ("0 init\n0 send 0 0 5 99\n", "line 2: there is no type 99"),
        ("0 init\n0 bcast\n", "line 2: size is missing"),
        ("0 init\n0 sleep nan\n", "line 2: NaN ns is no time"),
        ("0 init\n0 send 0 0 0.5\n", "line 2: 0.5 is no size"),
        ("0 init\n0 jump 3\n", "line 2: \"jump\" is no call that is known"),
    ] {
        let error = refusal(text, "time-independent");
        assert!(error.contains(told), "{text:?}: {error}");
    }
}

#[test]
fn files_that_are_no_traces() {
    let spec = ideal(8, 999, "/nowhere/at/all", "");
    let error = Simulation::build(&spec).err().expect("there is no such file").to_string();
    assert!(error.starts_with("workload.jobs[0].trace.file: /nowhere/at/all: "), "{error}");
    let file = Written::new("Dear reader,\n");
    let error = Simulation::build(&ideal(8, 999, file.path(), "")).err().expect("a letter");
    assert!(error.message.contains("begins like no trace") && error.choices.len() > 3, "{error}");
    for (key, value, told) in [
        ("trace.compute", "-1.0", "-1 is no factor"),
        ("trace.messages", "nan", "NaN is no factor"),
        ("trace.flops", "0.0", "is no number of operations"),
        ("ranks", "7", "7 ranks, but the trace has 2"),
        ("iterations", "3", "a job does what its trace says"),
        ("ranks_per_host", "0", "a host without ranks"),
        ("within_host", "{ phits_per_cycle = 0 }", "no phit would ever come"),
        ("protocol", "{ control = 0 }", "0 phits is no size of a message"),
    ] {
        let spec = ideal(8, 999, &data("goal/one.goal"), &format!("{key} = {value}"));
        let error = Simulation::build(&spec).err().expect(key);
        assert!(error.message.contains(told) && error.path.contains(key), "{error}");
    }
}

/// Whatever is in a file, it is read or refused.
#[test]
fn broken_files_are_refused() {
    let mut random = Stream::new(24, Owner::Placement);
    let mut refused = 0;
    for (file, format) in [
        ("goal/dissemination-16.goal", "goal"),
        ("goal/incast.goal", "goal"),
        ("goal/allreduce-ring-8.bin", "goal-binary"),
        ("dim/one.dim", "dimemas"),
        ("ti/allreduce-ring-8.tar.gz", "time-independent"),
    ] {
        let good = std::fs::read(data(file)).expect("there is a sample");
        for _ in 0..40 {
            let mut bytes = good.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len() as u32) as usize;
                match random.below(4) {
                    0 => bytes.truncate(at.max(1)),
                    1 => bytes[at] = random.below(256) as u8,
                    2 => bytes[at] ^= 1 << random.below(8),
                    _ => bytes.insert(at, b"0-9{} "[random.below(6) as usize]),
                }
            }
            let written =
                Written::with_end(bytes, if file.ends_with("gz") { ".tar.gz" } else { "" });
            let spec = ideal(16, 999, written.path(), &format!("trace.format = '{format}'"));
            refused += u32::from(Simulation::build(&spec).is_err());
        }
    }
    assert!(refused > 60, "{refused} of 200");
}
