//! What `docs/applications.md` says of other simulators: its tables are read from there, and what they say of this one is
//! measured again.

use std::io::Read;

use deroute::spec::Spec;

use super::{Written, completed, data, ideal, job};
use crate::support::value;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/applications.md");

/// The rows of the table that begins with these columns.
fn table(columns: &str) -> Vec<Vec<String>> {
    let page = std::fs::read_to_string(PAGE).expect("the page is there");
    let lines = page.lines().skip_while(|line| !line.starts_with(columns)).skip(2);
    let rows = lines.take_while(|line| line.starts_with('|'));
    let cells = |line: &str| {
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace(['`', ','], "")).collect()
    };
    rows.map(cells).collect()
}

/// A trace as another simulator replays it.
struct Row {
    file: String,
    /// LogGOPSim, which does not count the first byte of a message.
    first_is_free: bool,
    latency: u32,
    per_byte: u32,
    rendezvous: bool,
    here: u64,
}

impl Row {
    fn all() -> Vec<Self> {
        let number = |cell: &String| cell.parse().expect("a number");
        let row = |cells: &Vec<String>| Self {
            file: cells[0].clone(),
            first_is_free: cells[1] == "LogGOPSim",
            latency: number(&cells[2]),
            per_byte: number(&cells[3]),
            rendezvous: cells[4] == "rendezvous",
            here: cells[6].parse().expect("a number"),
        };
        table("| trace | by |").iter().map(row).collect()
    }

    /// A phit is a byte and a cycle 1 or 2 ns, or a phit has more bytes and takes as many ns.
    fn time(&self, bytes: u32) -> u64 {
        let rest = self.latency - if self.first_is_free { self.per_byte } else { 0 };
        let cycle = if self.per_byte == 1 { bytes } else { 2 };
        let more = if self.rendezvous { "protocol = { eager_limit = 0 }" } else { "" };
        let mut spec = ideal(64, rest.div_ceil(cycle), &data(&self.file), more);
        spec.units = value(&format!("{{ cycle = '{cycle} ns', phit = '{bytes} B' }}"));
        if self.per_byte > 1 {
            let rate = format!("1/{}", self.per_byte / cycle);
            let nic = format!("{{ latency = 1, link = {{ buffer = 1000000, rate = '{rate}' }} }}");
            spec.network.nic = value(&nic);
        }
        let packet = u64::from(4_096u32.div_ceil(bytes));
        spec.workload.as_mut().expect("there is one").packet_size = packet.into();
        u64::from(cycle) * job(&completed(&spec)).time
    }

    fn is_long(&self) -> bool {
        self.file.contains("lammps")
    }

    /// Kept here: one of them is too large for that.
    fn is_here(&self) -> bool {
        std::path::Path::new(&data(&self.file)).is_file()
    }

    /// EPOCH has bytes enough for phits of 100.
    fn exact(&self) -> u64 {
        self.time(if self.file.contains("epoch") { 100 } else { 1 })
    }
}

/// The short ones to the nanosecond, those of LAMMPS nearly, with phits of 8 bytes.
#[test]
fn traces_take_what_the_page_says() {
    let rows = Row::all();
    assert_eq!(rows.len(), 26);
    for row in rows.iter().filter(|row| row.is_here() && !row.is_long()) {
        assert_eq!(row.exact(), row.here, "{}", row.file);
    }
    let nearly = rows.iter().filter(|row| row.is_here() && row.is_long());
    for row in nearly.filter(|row| row.per_byte == 1 && !row.rendezvous) {
        let found = row.time(8);
        assert!(found.abs_diff(row.here) * 500 < row.here, "{}: {found}", row.file);
    }
}

#[test]
#[ignore = "a phit is a byte: a minute"]
fn long_traces_take_what_the_page_says() {
    let rows = Row::all();
    let long: Vec<&Row> = rows.iter().filter(|row| row.is_here() && row.is_long()).collect();
    assert_eq!(long.len(), 4);
    for row in long {
        assert_eq!(row.exact(), row.here, "{}", row.file);
    }
}

/// Collectives for which not all members wait, made such that they do: broadcasts, gathers, reductions, scans.
fn all_wait(file: &str) -> Written {
    let packed = std::fs::File::open(file).expect("there is a sample");
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).expect("it is text");
    let barrier = |line: &str| {
        let mut fields: Vec<&str> = line.split(':').collect();
        if fields[0] == "10" && ["1", "2", "4", "10", "14"].contains(&fields[3]) {
            fields[3] = "0";
        }
        fields.join(":") + "\n"
    };
    Written::with_end(text.lines().map(barrier).collect::<String>(), ".dim")
}

/// On 10 GB/s, a phit of 500 bytes in 50 ns, and 150 ns of latency.
fn fast(file: &str) -> Spec {
    let mut spec = ideal(16, 3, file, "");
    spec.units = value("{ cycle = '50 ns', phit = '500 B' }");
    spec.workload.as_mut().expect("there is one").packet_size = 8.into();
    spec
}

/// A network takes longer than none, if all members of a collective wait for each other, as they do in Dimemas.
#[test]
fn no_replay_is_faster_than_the_free_network_of_dimemas() {
    let rows = table("| trace | free network of Dimemas, ms |");
    assert_eq!(rows.len(), 3);
    for row in rows {
        let file = data(&row[0]);
        let waiting = all_wait(&file);
        let times = [file.as_str(), waiting.path()].map(|file| job(&completed(&fast(file))).time);
        let [plain, waiting] = times.map(|cycles| cycles as f64 * 50e-6);
        assert_eq!([format!("{plain:.3}"), format!("{waiting:.3}")], row[2..4], "{}", row[0]);
        let free: f64 = row[1].parse().expect("a number");
        assert!(waiting > free && waiting > plain, "{}", row[0]);
    }
}
