//! Formats that say of calls what the one internal form does not: what follows from their records.

use super::{Written, completed, data, ideal, job};

/// Two tasks; the second one has its calls and where its receive is posted.
fn paraver(second: &str, posted: u64) -> String {
    format!(
        "#Paraver (01/01/2026 at 10:00):9000_ns:1(2):1:2(1:1,1:1),1\n\
         c:1:1:2:1:2\n\
         1:1:1:1:1:0:1000:1\n\
         2:1:1:1:1:1000:50000001:3:42000050:7\n\
         2:1:1:1:1:1100:50000001:0\n\
         2:1:1:1:1:3100:50000001:5\n\
         2:1:1:1:1:3200:50000001:0\n\
         {second}\
         3:1:1:1:1:1050:1060:2:1:2:1:{posted}:2400:1000:7\n"
    )
}

fn time(text: &str) -> u64 {
    let file = Written::new(text);
    job(&completed(&ideal(2, 1_000, file.path(), ""))).time
}

/// A message of 1,000 bytes takes 2,000 ns; it leaves after 1,000 ns.
#[test]
fn paraver_calls() {
    let receive = "2:2:1:2:1:500:50000001:2\n2:2:1:2:1:2500:50000001:0\n";
    assert_eq!(time(&paraver(receive, 500)), 3_000);
    // 500 until the receive is posted, 2,000 until the wait, and 700 after it; the message is there before.
    let begun = "2:2:1:2:1:500:50000001:4\n2:2:1:2:1:510:50000001:0\n\
                 2:2:1:2:1:2510:50000001:5\n2:2:1:2:1:2600:50000001:0\n\
                 2:2:1:2:1:3300:50000003:32\n2:2:1:2:1:3400:50000003:0\n";
    assert_eq!(time(&paraver(begun, 505)), 3_700);
    // A receive that nothing waits for ends with the rank.
    let never = "2:2:1:2:1:500:50000001:4\n2:2:1:2:1:510:50000001:0\n";
    assert_eq!(time(&paraver(never, 505)), 3_000);
}

/// Two tasks that send first, and wait for that, and receive then, as both buffer what they send.
#[test]
fn paraver_buffered_sends() {
    for send in [33, 36] {
        let calls = |task: u32, other: u32| {
            let call = |number: u32, (from, until): (u32, u32)| {
                let at = format!("2:{task}:1:{task}:1");
                format!("{at}:{from}:50000001:{number}\n{at}:{until}:50000001:0\n")
            };
            let message = format!("3:{task}:1:{task}:1:5:5:{other}:1:{other}:1:25:40:1000:7\n");
            call(send, (0, 10)) + &call(5, (10, 20)) + &call(2, (20, 50)) + &message
        };
        let head = "#Paraver (01/01/2026 at 10:00):9000_ns:1(2):1:2(1:1,1:1),1\n";
        let file = Written::new(format!("{head}{}{}", calls(1, 2), calls(2, 1)));
        let asks = ideal(2, 1_000, file.path(), "protocol = { eager_limit = 0 }");
        assert_eq!(job(&completed(&asks)).time, 2 * 1_001 + 2_000, "{send}");
    }
}

/// Only the record of its root says who the root of a broadcast is.
#[test]
fn paraver_collectives() {
    let call = |task: u32, root: &str, (sent, got): (u32, u32)| {
        let at = format!("2:{task}:1:{task}:1");
        let sizes = format!("50100001:{sent}:50100002:{got}:50100004:1");
        format!("{at}:{}:50000002:7:{sizes}{root}\n{at}:900:50000002:0\n", 100 * task)
    };
    let head = "#Paraver (01/01/2026 at 10:00):9000_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n";
    let second = call(2, ":50100003:1", (64, 0));
    assert_eq!(time(&format!("{head}{}{second}", call(1, "", (0, 64)))), 200 + 1_064);
}

/// A block is what is sent, and what is received is one of them or all; with sizes of their own both are sums.
#[test]
fn blocks_of_an_all_to_all() {
    let phits = |text: String| {
        let file = Written::new(text);
        job(&completed(&ideal(4, 1_000, file.path(), ""))).messages.phits
    };
    let events = |call: u32, (sent, got): (u32, u32)| {
        let begin = |task: u32| {
            let sizes = format!("50100001:{sent}:50100002:{got}:50100004:1");
            format!("2:{task}:1:{task}:1:100:50000002:{call}:{sizes}\n")
        };
        let end = |task: u32| format!("2:{task}:1:{task}:1:900:50000002:0\n");
        let head = "#Paraver (01/01/2026 at 10:00):9000_ns:1(4):1:4(1:1,1:1,1:1,1:1),1\n";
        let calls: String = (1..5).map(begin).chain((1..5).map(end)).collect();
        format!("{head}c:1:1:4:1:2:3:4\n{calls}")
    };
    let records = |operation: u32, (sent, got): (u32, u32)| {
        let call = |task: u32| format!("10:{task}:0:{operation}:0:0:0:{sent}:{got}:0\n");
        let calls: String = (0..4).map(call).collect();
        format!("#DIMEMAS:\"four\":1,0:4(1,1,1,1)\nd:1:0:4:0:1:2:3\n{calls}")
    };
    for sizes in [(1_000, 1_000), (1_000, 4_000)] {
        assert_eq!(phits(events(11, sizes)), 4 * 3 * 1_000, "{sizes:?}");
        assert_eq!(phits(records(8, sizes)), 4 * 3 * 1_000, "{sizes:?}");
    }
    assert_eq!(phits(events(12, (4_000, 4_000))), 4 * 3 * 1_000);
    assert_eq!(phits(records(9, (4_000, 4_000))), 4 * 3 * 1_000);
}

/// EPOCH on four ranks: what Extrae recorded, and what BSC's translator made of it for Dimemas. The translator adds
/// a barrier, and the time after the last call.
#[test]
fn paraver_and_dimemas() {
    let few = "trace.compute = 1e-4\ntrace.messages = 0.001";
    let outcomes = ["prv/epoch-4.prv.gz", "dim/epoch-4.dim.gz"]
        .map(|file| completed(&ideal(4, 1_000, &data(file), few)));
    let [recorded, translated] = outcomes.each_ref().map(job);
    // Two rounds of four messages.
    assert_eq!(recorded.messages.sent + 8, translated.messages.sent);
    assert_eq!(recorded.messages.phits + 8, translated.messages.phits);
    let ratio = recorded.compute_mean / translated.compute_mean;
    assert!((0.999..1.0).contains(&ratio), "{ratio}");
}

/// A barrier of four ranks, 4 bytes round a ring, an all-reduce of 4 bytes, without computations and with them.
#[test]
fn dumpi() {
    let run = |compute: &str| completed(&ideal(4, 1_000, &data("dumpi"), compute));
    let outcome = run("trace.compute = 0.0");
    let alone = job(&outcome);
    assert_eq!(alone.time, 2 * 1_001 + 1_004 + 2 * 1_004);
    assert_eq!(alone.messages.sent, 8 + 4 + 8);
    let outcome = run("");
    // 92 us of rank 0 between its calls, as the text form of its file says.
    assert_eq!(job(&outcome).arrays.rank_computed[0], 92_000);
}

/// What lies before the trace in the order of names is no part of it, in a folder and in an archive.
#[test]
fn a_trace_may_have_other_files_beside_it() {
    let mut archive = tar::Builder::new(Vec::new());
    for name in ["LICENSE", "testtrace-0000.bin", "testtrace-0001.bin"] {
        let file = if name == "LICENSE" { "testtrace.LICENSE" } else { name };
        let path = data(&format!("dumpi/{file}"));
        archive.append_path_with_name(path, name).expect("there is a sample");
    }
    let archive = archive.into_inner().expect("memory takes it");
    let read = |file: &str| {
        deroute::Simulation::build(&ideal(4, 1_000, file, "")).err().map(|error| error.message)
    };
    // Rank 0 sends to others than these two: it is the reader of DUMPI that refuses them.
    let packed = Written::with_end(&archive, ".tar");
    let found = read(packed.path()).expect("ranks are missing");
    assert!(found.contains("testtrace-0000.bin, byte"), "{found}");
    let folder = std::env::temp_dir().join(format!("deroute-trace-{}-folder", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    for (name, file) in [("LICENSE", "README.md"), ("ring.0.et", "chakra/all_reduce.0.et")] {
        std::fs::copy(data(file), folder.join(name)).expect("there is a sample");
    }
    let found = read(folder.to_str().expect("a path is text"));
    std::fs::remove_dir_all(&folder).expect("it is there");
    assert_eq!(found, None);
}
