//! The records of a DUMPI file: which fields a call has, and what they say.

use super::super::fault::{Fault, Place};

/// What a file begins with, and its index.
pub(super) const MAGIC: &[u8] = &[0xff, 0xaa, 0xdd, b'D', b'U', b'M', b'P', b'I'];
/// What ends the calls.
pub(super) const END: u16 = 293;

/// Which fields a record has besides those of its arguments.
const STATUSES: u8 = 3;
const CPU: u8 = 1 << 2;
const WALL: u8 = 1 << 3;
const THREAD: u8 = 1 << 6;
const COUNTERS: u8 = 1 << 7;

/// Calls: number, name, and their fields: `i` 32 bits, `h` 16, `b` 8; `a` a list of 32 bits, `t` of 16; `s` statuses; `w`
/// as many words as the first field says. What follows `?` is there if the first field is the root, which is the first
/// `r`; otherwise what follows `:`.
const CALLS: [(u16, &str, &str); 64] = [
    (0, "send", "ihiih"),
    (1, "recv", "ihiihs"),
    (2, "get_count", "shi"),
    (3, "bsend", "ihiih"),
    (4, "ssend", "ihiih"),
    (5, "rsend", "ihiih"),
    (8, "isend", "ihiihi"),
    (9, "ibsend", "ihiihi"),
    (10, "issend", "ihiihi"),
    (11, "irsend", "ihiihi"),
    (12, "irecv", "ihiihi"),
    (13, "wait", "is"),
    (14, "test", "iis"),
    (15, "request_free", "i"),
    (16, "waitany", "iais"),
    (17, "testany", "iaiis"),
    (18, "waitall", "ias"),
    (19, "testall", "iais"),
    (20, "waitsome", "iaias"),
    (21, "testsome", "iaias"),
    (22, "iprobe", "iihis"),
    (23, "probe", "iihs"),
    (33, "sendrecv", "ihiiihiihs"),
    (34, "sendrecv_replace", "ihiiiihs"),
    (35, "type_contiguous", "ihh"),
    (36, "type_vector", "iiihh"),
    (40, "type_struct", "iaath"),
    (42, "type_extent", "hi"),
    (43, "type_size", "hi"),
    (46, "type_commit", "h"),
    (47, "type_free", "h"),
    (52, "barrier", "h"),
    (53, "bcast", "ihih"),
    (54, "gather", "iihrh?ih"),
    (55, "gatherv", "iiihrh?aahh:h"),
    (56, "scatter", "iihrh?ih"),
    (57, "scatterv", "iihihrh?aa"),
    (58, "allgather", "ihihh"),
    (59, "allgatherv", "iihaahh"),
    (60, "alltoall", "ihihh"),
    (61, "alltoallv", "iaahaahh"),
    (62, "reduce", "ihbih"),
    (63, "op_create", "ib"),
    (64, "op_free", "b"),
    (65, "allreduce", "ihbh"),
    (66, "reduce_scatter", "iahbh"),
    (67, "scan", "ihbh"),
    (68, "group_size", "hi"),
    (72, "comm_group", "hh"),
    (76, "group_incl", "hiah"),
    (80, "group_free", "h"),
    (81, "comm_size", "hi"),
    (82, "comm_rank", "hi"),
    (84, "comm_dup", "hh"),
    (85, "comm_create", "hhh"),
    (86, "comm_split", "hiih"),
    (87, "comm_free", "h"),
    (99, "cart_create", "hiaaih"),
    (100, "dims_create", "iiaa"),
    (122, "wtime", ""),
    (123, "wtick", ""),
    (124, "init", "iw"),
    (125, "finalize", ""),
    (171, "init_thread", "iwbb"),
];

/// A call.
pub(super) struct Record {
    pub(super) name: &'static str,
    /// Where it stands.
    pub(super) at: usize,
    /// When it began and ended, in nanoseconds, if the file says so.
    pub(super) times: Option<(u64, u64)>,
    /// Single fields in their order.
    pub(super) fields: Vec<i32>,
    pub(super) lists: Vec<Vec<i32>>,
    /// Source and tag of each message; the tag is -1 where an old file has none.
    pub(super) statuses: Vec<(i32, i32)>,
}

impl Record {
    /// A field, from 0.
    pub(super) fn field(&self, at: usize) -> i32 {
        self.fields.get(at).copied().unwrap_or(0)
    }

    /// A list, from 0.
    pub(super) fn list(&self, at: usize) -> &[i32] {
        self.lists.get(at).map_or(&[], Vec::as_slice)
    }
}

/// A file in memory, and where it is read.
pub(super) struct Bytes<'a> {
    pub(super) file: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    /// Statuses have tags.
    pub(super) tags: bool,
}

impl Bytes<'_> {
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::at(self.file, Place::Byte(self.at as u64), message)
    }

    /// The next so many bytes.
    fn take(&mut self, count: usize) -> Result<&[u8], Fault> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let Some(end) = end else { return Err(self.fault("the file ends here")) };
        let found = &self.bytes[self.at..end];
        self.at = end;
        Ok(found)
    }

    /// A number of so many bytes, the largest first.
    pub(super) fn number(&mut self, count: usize) -> Result<u64, Fault> {
        Ok(self.take(count)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn word(&mut self) -> Result<i32, Fault> {
        Ok(self.number(4)? as u32 as i32)
    }

    /// A length, of so many things of a size that have to be in the file.
    fn length(&mut self, size: usize) -> Result<usize, Fault> {
        let count = self.number(4)? as usize;
        let left = (self.bytes.len() - self.at) / size;
        if count > left {
            return Err(self.fault(format!("a list of {count}; the file has room for {left}")));
        }
        Ok(count)
    }

    /// Two times of seconds and nanoseconds.
    fn times(&mut self) -> Result<(u64, u64), Fault> {
        let mut time = || Ok(self.number(2)? * 1_000_000_000 + self.number(4)?);
        Ok((time()?, time()?))
    }

    fn statuses(&mut self) -> Result<Vec<(i32, i32)>, Fault> {
        let count = self.length(10)?;
        let mut found = Vec::with_capacity(count);
        for _ in 0..count {
            self.word()?;
            let source = self.word()?;
            self.number(2)?;
            found.push((source, if self.tags { self.word()? } else { -1 }));
        }
        Ok(found)
    }

    /// The next call; `None` at the end.
    pub(super) fn record(&mut self) -> Result<Option<Record>, Fault> {
        let at = self.at;
        let number = self.number(2)? as u16;
        if number == END {
            return Ok(None);
        }
        let Some((_, name, layout)) = CALLS.iter().find(|(own, ..)| *own == number) else {
            self.at = at;
            return Err(self.fault(format!("call {number} of DUMPI is not read")));
        };
        let mask = self.number(1)? as u8;
        if mask & THREAD != 0 {
            self.number(2)?;
        }
        let cpu = if mask & CPU != 0 { Some(self.times()?) } else { None };
        let wall = if mask & WALL != 0 { Some(self.times()?) } else { None };
        if mask & COUNTERS != 0 {
            let counters = self.number(1)? as usize;
            self.take(16 * counters)?;
        }
        let (fields, lists, statuses) = (Vec::new(), Vec::new(), Vec::new());
        let times = wall.or(cpu);
        let mut record = Record { name, at, times, fields, lists, statuses };
        self.arguments(layout, mask & STATUSES != 0, &mut record)?;
        Ok(Some(record))
    }

    fn arguments(&mut self, layout: &str, told: bool, record: &mut Record) -> Result<(), Fault> {
        let mut root = 0;
        let mut fields = layout.bytes();
        while let Some(field) = fields.next() {
            match field {
                b'i' => record.fields.push(self.word()?),
                b'r' => {
                    root = self.word()?;
                    record.fields.push(root);
                }
                b'h' => record.fields.push(self.number(2)? as i32),
                b'b' => record.fields.push(self.number(1)? as i32),
                b'a' | b't' => {
                    let size = if field == b'a' { 4 } else { 2 };
                    let count = self.length(size)?;
                    let list = (0..count).map(|_| Ok(self.number(size)? as u32 as i32));
                    let list = list.collect::<Result<_, Fault>>()?;
                    record.lists.push(list);
                }
                b's' if told => record.statuses = self.statuses()?,
                b'w' => {
                    for _ in 0..record.field(0).max(0) {
                        let count = self.length(1)?;
                        self.take(count)?;
                    }
                }
                b'?' if record.field(0) != root => {
                    fields.by_ref().find(|field| *field == b':');
                }
                b':' => break,
                _ => {}
            }
        }
        Ok(())
    }
}
