//! Files that are no traces, or none that could end.

use std::io::Read;

use deroute::Simulation;
use deroute::rng::{Owner, Stream};

use super::{Written, archive, data, ideal};

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
        (&format!("{head}0 0 send 0 8 4 0 now\n"), "line 3: \"now\" is more than belongs to"),
        (&format!("{head}0 0 recv 0 8 4 0 0,4,8\n"), "line 3: \"0,4,8\" does not begin with <"),
        (&format!("{head}0 0 barrier 0 7\n"), "line 3: \"7\" is more than belongs to"),
        (&format!("{head}comm 3 0 0\n"), "line 3: \"0\" is more than belongs to"),
        (&format!("{head}0 0 finalize\n\n0 0 nothing\n"), "line 5: \"0\" stands after `finalize`"),
        (
            &format!("{head}0 0 irecv 0 8 4 0 5\n0 0 isend 0 8 4 0 5\n"),
            "line 4: request 5 has not ended yet",
        ),
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
        ("0 init\n0 send 0 0 5 0 7\n", "line 2: 7 is more than belongs to send"),
        ("0 init\n0 recv 0 0 5 0 7\n", "line 2: 7 is more than belongs to recv"),
        ("0 init\n0 allToAll 5 5 0 1 7\n", "line 2: 7 is more than belongs to allToAll"),
        ("0 init\n0 finalize\n0 barrier\n", "line 3: \"barrier\" stands after finalize"),
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

#[test]
fn paraver() {
    let head = "#Paraver (01/01/2026 at 10:00):9000_ns:1(2):1:2(1:1,1:1),1\n";
    for (text, told) in [
        ("#Paraver 7\n", "line 1: is not #Paraver"),
        ("#Paraver (x):9_ns:1(2):3:2(1:1)\n", "line 1: \"3\" applications"),
        ("#Paraver (x):9_ns:1(2):1:1000000000(1:1)\n", "line 1: 1000000000 ranks; there may be"),
        (&format!("{head}c:1:1:3:1:2\n"), "line 2: 2 members of 3"),
        (&format!("{head}c:1:1:1:9\n"), "line 2: there is no task 9"),
        (&format!("{head}2:1:1:7:1:5:50000001:1\n"), "line 2: there is no task 7"),
        (&format!("{head}2:1:1:1:1:5:50000001\n"), "line 2: field 8 is missing"),
        (&format!("{head}7:1\n"), "line 2: \"7\" is no kind of record"),
        (
            &format!("{head}2:1:1:1:1:5:50000001:1\n2:1:1:1:1:6:50000001:2\n"),
            "line 3: a call begins before the one before it ends",
        ),
        (&format!("{head}3:1:1:1:1:5:6:2:1:2:1:5:8:100:7\n"), "line 2: no call of task 1 has this"),
        (
            &format!("{head}2:1:1:1:1:5:50000002:8\n2:1:1:1:1:6:50000002:0\n"),
            "line 2: there is no communicator 0",
        ),
    ] {
        let error = refusal(text, "paraver");
        assert!(error.contains(told), "{text:?}: {error}");
    }
}

#[test]
fn dumpi() {
    let good = std::fs::read(data("dumpi/testtrace-0000.bin")).expect("there is a sample");
    let changed = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    for (bytes, told) in [
        (good[..1_000].to_vec(), "byte 1000: the file has no index at its end"),
        (changed(0, 0), "begins like no file of DUMPI"),
        (changed(0x10, 0x7f), "byte 16: call 32636 of DUMPI is not read"),
        (changed(0x31, 0x70), "byte 53: a list of"),
        (changed(0xb58, 0x70), "after the end"),
        (good.clone(), "there is no rank 1: there are 1"),
    ] {
        let file = Written::with_end(bytes, "-0.bin");
        let spec = ideal(8, 999, file.path(), "trace.format = 'dumpi'");
        let error = Simulation::build(&spec).err().expect("nothing that could be replayed");
        assert!(error.message.contains(told), "{error}");
    }
}

#[test]
fn dimemas() {
    let head = "#DIMEMAS:\"two\":1,0:2(1,1)\n";
    for (text, told) in [
        ("DIMEMAS\n", "line 1: is not #DIMEMAS"),
        ("#DIMEMAS:\"all\":1,0:1000000000(1)\n", "line 1: 1000000000 ranks; there may be"),
        (&format!("{head}d:1:7:2:0:1\n1:9:0:1.0\n"), "line 3: there is no rank 9: there are 2"),
        (&format!("{head}d:1:7:3:0:1\n"), "line 2: 2 members of 3"),
        (&format!("{head}77:0:0\n"), "line 2: \"77\" is no kind of record"),
        (&format!("{head}1:0:0:NaN\n"), "line 2: NaN ns is no time"),
        (&format!("{head}1:0:0\n"), "line 2: field 4 is missing"),
        (&format!("{head}3:0:0:1:0:8:0:0:2\n"), "line 2: waits for a receive that was not begun"),
        (&format!("{head}10:0:0:0:9:0:0:0:0:0\n"), "line 2: there is no communicator 9 so far"),
    ] {
        let error = refusal(text, "dimemas");
        assert!(error.contains(told), "{text:?}: {error}");
    }
    let wrong = refusal([head.as_bytes(), &[0xff, 0xfe]].concat(), "dimemas");
    assert!(wrong.contains("line 2: is no text"), "{wrong}");
}

#[test]
fn chakra() {
    let good = std::fs::read(data("chakra/all_reduce.0.et")).expect("there is a sample");
    for (bytes, told) in [
        (good[..40].to_vec(), "byte 8: the file ends within a message of 72 bytes"),
        (vec![0xff; 12], "byte 0: a number has more than ten bytes"),
        ([good.as_slice(), &good[8..]].concat(), "byte 81: node 0 is there twice"),
        // The first node is of kind 9; its only field has no type that is known.
        (vec![0, 2, 0x18, 9], "byte 1: 9 is no kind of node"),
        (vec![0, 1, 0x0b], "byte 1: 3 is no type of a field"),
        (vec![0, 2, 0x52, 9], "byte 1: a field is longer than its message"),
        (
            vec![0, 0xff, 0xff, 0xff, 0xff, 0x0f],
            "byte 1: a message of 4294967295 bytes is too long",
        ),
    ] {
        let file = Written::with_end(bytes, ".0.et");
        let spec = ideal(8, 999, file.path(), "");
        let error = Simulation::build(&spec).err().expect("nothing that could be replayed");
        assert!(error.message.contains(told), "{told}: {error}");
    }
}

/// Truncated, changed, longer; a bit, a byte, a number as large as can be.
fn broken(good: &[u8], random: &mut Stream) -> Vec<u8> {
    let mut bytes = good.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() as u32) as usize;
        match random.below(6) {
            0 => bytes.truncate(at.max(1)),
            1 => bytes[at] = random.below(256) as u8,
            2 => bytes[at] ^= 1 << random.below(8),
            3 => bytes.insert(at, b"0-9{} "[random.below(6) as usize]),
            4 => bytes.splice(at..at, *b"99999999999999999999").for_each(drop),
            _ => bytes.iter_mut().skip(at).take(4).for_each(|byte| *byte = 0xff),
        }
    }
    bytes
}

/// Whatever is in a file, it is read or refused: of every reader.
#[test]
fn broken_files_are_refused() {
    let calls = "mpi-trace 1\nrank 0 of 1\ncomm 3 0\n5 1 isend 0 8 4 0 1\n3 1 irecv -1 8 -1 0 2\n\
                 7 1 wait 1 2<0,4,8\n1 1 alltoallv 3 12\n1 1 sendrecv 0 8 1 0 8 1 0 <0,1,8\n\
                 1 1 bcast 0 0 16\n1 1 finalize\n";
    let read = |file: &str| std::fs::read(data(file)).expect("there is a sample");
    let packed = read("prv/epoch-4.prv.gz");
    let mut events = Vec::new();
    let mut unpacked = flate2::read::GzDecoder::new(packed.as_slice());
    unpacked.read_to_end(&mut events).expect("the sample is compressed");
    // Its first calls; a broken number shows anywhere.
    events.truncate(20_000);
    let others: Vec<(String, Vec<u8>)> = (1..4)
        .map(|rank| (format!("t-{rank}.bin"), read(&format!("dumpi/testtrace-000{rank}.bin"))))
        .collect();
    let mut random = Stream::new(24, Owner::Placement);
    for (good, format, end) in [
        (calls.as_bytes().to_vec(), "mpi-trace", ""),
        (read("goal/dissemination-16.goal"), "goal", ""),
        (read("goal/incast.goal"), "goal", ""),
        (read("goal/allreduce-ring-8.bin"), "goal-binary", ""),
        (read("dim/one.dim"), "dimemas", ""),
        (read("ti/allreduce-ring-8.tar.gz"), "time-independent", ".tar.gz"),
        (read("chakra/all_reduce.0.et"), "chakra", ".0.et"),
        (events, "paraver", ""),
        (read("dumpi/testtrace-0000.bin"), "dumpi", ".tar"),
    ] {
        let mut refused = 0;
        for _ in 0..40 {
            let mut bytes = broken(&good, &mut random);
            if format == "dumpi" {
                let first = ("t-0.bin".to_owned(), bytes);
                bytes = archive(&[std::slice::from_ref(&first), &others].concat());
            }
            let written = Written::with_end(bytes, end);
            let spec = ideal(16, 999, written.path(), &format!("trace.format = '{format}'"));
            match Simulation::build(&spec) {
                Ok(_) => {}
                Err(error) if error.path.starts_with("workload.jobs[0].trace") => refused += 1,
                Err(error) => panic!("{format}: {error}"),
            }
        }
        assert!(refused > 8, "{format}: {refused} of 40");
    }
}

/// What is beside the files of ranks is read or refused as well: names of calls, and the number of ranks.
#[test]
fn broken_files_beside_a_trace_are_refused() {
    let events = "#Paraver (01/01/2026 at 10:00):9000_ns:1(2):1:2(1:1,1:1),1\n\
                  2:1:1:1:1:1000:50000001:301\n2:1:1:1:1:1100:50000001:0\n\
                  2:2:1:2:1:500:50000001:302\n2:2:1:2:1:2500:50000001:0\n\
                  3:1:1:1:1:1050:1060:2:1:2:1:500:2400:1000:7\n";
    let names = "EVENT_TYPE\n9 50000001 MPI\nVALUES\n301 MPI_Send\n302 MPI_Recv\n0 Outside\n";
    let ranks: Vec<(String, Vec<u8>)> = (0..4)
        .map(|rank| {
            let file = data(&format!("dumpi/testtrace-000{rank}.bin"));
            (format!("t-{rank}.bin"), std::fs::read(file).expect("there is a sample"))
        })
        .collect();
    let refused = |format: &str, beside: &[u8]| {
        let (trace, _names) = if format == "paraver" {
            let trace = Written::with_end(events, ".prv");
            let names = trace.beside("pcf", beside);
            (trace, Some(names))
        } else {
            let about = ("t.meta".to_owned(), beside.to_vec());
            let files = [std::slice::from_ref(&about), &ranks].concat();
            (Written::with_end(archive(&files), ".tar"), None)
        };
        let built = Simulation::build(&ideal(16, 999, trace.path(), ""));
        built.err().inspect(|error| assert_eq!(error.path, "workload.jobs[0].trace.file"))
    };
    let mut random = Stream::new(25, Owner::Placement);
    for (format, good, wrong) in [
        ("paraver", names, b"VALUES\n\xff\xfe\n".as_slice()),
        ("dumpi", "numprocs=4\n", b"numprocs=5\n".as_slice()),
    ] {
        assert_eq!(refused(format, good.as_bytes()), None, "{format}");
        assert!(refused(format, wrong).is_some(), "{format}");
        // Most of what is broken says nothing, and then calls have other names and the files of ranks are counted.
        let tries = (0..100).map(|_| refused(format, &broken(good.as_bytes(), &mut random)));
        assert!(tries.flatten().count() < 100, "{format}");
    }
}
