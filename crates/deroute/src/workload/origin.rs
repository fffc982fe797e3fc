//! Where a program was read from.

/// Where the nodes of a program stand.
#[derive(Debug, Default)]
pub struct Origin {
    /// The file of each rank, or the one of all.
    pub files: Vec<String>,
    /// What a place is: a line, or a byte.
    pub unit: &'static str,
}

impl Origin {
    /// A place in the file of a rank.
    pub fn place(&self, rank: u32, place: u32) -> String {
        let file = self.files.get(rank as usize).or(self.files.first());
        format!("{} {place} of {}", self.unit, file.map_or("", String::as_str))
    }
}
