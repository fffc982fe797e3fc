//! The temporary file of what a trace has beyond its room in memory.
//!
//! It has no name, and is gone with the last who knows it, even if the process is killed. It is made when the first block is
//! written, so that a trace which fits needs none.

use std::fs::File;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes of a block, in which room of the file is given.
pub(super) const BLOCK: usize = 4096;

/// The file, and the room that is left in memory.
#[derive(Debug)]
pub struct Spill {
    /// Bytes.
    room: AtomicU64,
    file: OnceLock<File>,
    blocks: AtomicU32,
    /// What went wrong first while a run read it.
    fault: OnceLock<String>,
}

impl Spill {
    /// There is so much room in memory.
    pub(super) fn new(bytes: u64) -> Self {
        let (file, fault) = (OnceLock::new(), OnceLock::new());
        Self { room: AtomicU64::new(bytes), file, blocks: AtomicU32::new(0), fault }
    }

    /// Takes a block of room in memory, if there is one.
    pub(super) fn take(&self) -> bool {
        let less = |room: u64| room.checked_sub(BLOCK as u64);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Gives so many blocks of it back.
    pub(super) fn give_back(&self, blocks: u64) {
        self.room.fetch_add(blocks * BLOCK as u64, Ordering::Relaxed);
    }

    /// Bytes of the file.
    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.blocks.load(Ordering::Relaxed)) * BLOCK as u64
    }

    /// Writes so many bytes behind everything else; returns their first block.
    pub(super) fn append(&self, bytes: &[u8]) -> Result<u32, String> {
        let more = u32::try_from(bytes.len().div_ceil(BLOCK)).ok();
        let end = |blocks: u32| more.and_then(|more| blocks.checked_add(more));
        let block = self.blocks.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end);
        let block = block.map_err(|_| told(&io::Error::other("it is full")))?;
        self.write(block, bytes)?;
        Ok(block)
    }

    /// Writes bytes from a block on.
    pub(super) fn write(&self, block: u32, bytes: &[u8]) -> Result<(), String> {
        if self.file.get().is_none() {
            let made = tempfile::tempfile().map_err(|error| told(&error))?;
            // Another one can only be there if somebody else was faster, and then it is as good.
            let _ = self.file.set(made);
        }
        let Some(file) = self.file.get() else { return Err(told(&io::ErrorKind::NotFound.into())) };
        write_at(file, bytes, u64::from(block) * BLOCK as u64).map_err(|error| told(&error))
    }

    /// Reads from so many bytes behind the beginning of a block on.
    pub(super) fn read(&self, block: u32, offset: u64, into: &mut [u8]) -> Result<(), String> {
        let Some(file) = self.file.get() else { return Err(told(&io::ErrorKind::NotFound.into())) };
        let at = u64::from(block) * BLOCK as u64 + offset;
        read_at(file, into, at).map_err(|error| told(&error))
    }

    /// Something went wrong in a run.
    pub(super) fn fail(&self, message: String) {
        let _ = self.fault.set(message);
    }

    /// What went wrong first in a run.
    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    /// The file is cut off, as if the disk had lost the rest.
    #[cfg(test)]
    pub(super) fn lose(&self) {
        self.file.get().expect("there is a file").set_len(0).expect("it can be cut off");
    }
}

/// An error of the file.
fn told(error: &io::Error) -> String {
    format!("the temporary file in {}: {error}", std::env::temp_dir().display())
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(unix)]
fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, at)
}

#[cfg(windows)]
fn write_at(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        (bytes, at) = (&bytes[written..], at + written as u64);
    }
    Ok(())
}

#[cfg(windows)]
fn read_at(file: &File, mut into: &mut [u8], mut at: u64) -> io::Result<()> {
    while !into.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, into, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        (into, at) = (&mut into[read..], at + read as u64);
    }
    Ok(())
}

/// A list to which is added while a trace is read, part by part, each in memory where there is room for it.
pub(super) struct Long<T> {
    last: Vec<T>,
    parts: Vec<Part<T>>,
}

enum Part<T> {
    Kept(Vec<T>),
    /// Its first block, and its bytes.
    Written(u32, u32),
}

impl<T> Default for Long<T> {
    fn default() -> Self {
        Self { last: Vec::new(), parts: Vec::new() }
    }
}

impl<T: Serialize + DeserializeOwned> Long<T> {
    /// Members of a part: what a block of memory has room for.
    const PART: usize = BLOCK / size_of::<T>();

    /// Adds a member.
    pub(super) fn push(&mut self, member: T, spill: &Spill) -> Result<(), String> {
        if self.last.len() == Self::PART {
            let part = std::mem::take(&mut self.last);
            self.parts.push(match spill.take() {
                true => Part::Kept(part),
                false => {
                    let bytes = postcard::to_stdvec(&part).map_err(|error| error.to_string())?;
                    Part::Written(spill.append(&bytes)?, bytes.len() as u32)
                }
            });
        }
        self.last.push(member);
        Ok(())
    }

    /// The member that was added last.
    pub(super) fn last_mut(&mut self) -> Option<&mut T> {
        self.last.last_mut()
    }

    /// Its parts, in order; it is gone then.
    pub(super) fn parts(self, spill: &Spill) -> impl Iterator<Item = Result<Vec<T>, String>> {
        let Self { last, parts } = self;
        let read = |part| match part {
            Part::Kept(part) => {
                spill.give_back(1);
                Ok(part)
            }
            Part::Written(block, length) => {
                let mut bytes = vec![0; length as usize];
                spill.read(block, 0, &mut bytes)?;
                postcard::from_bytes(&bytes).map_err(|error| error.to_string())
            }
        };
        parts.into_iter().map(read).chain(std::iter::once(Ok(last)))
    }

    /// All members, in order.
    pub(super) fn all(self, spill: &Spill) -> Result<Vec<T>, String> {
        let mut all = Vec::new();
        for part in self.parts(spill) {
            all.extend(part?);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_what_was_added() {
        for room in [0, BLOCK as u64, u64::MAX / 2] {
            let spill = Spill::new(room);
            let mut list = Long::default();
            (0..5000_u64).for_each(|member| list.push(member, &spill).expect("there is a disk"));
            assert_eq!(list.last_mut(), Some(&mut 4999));
            assert_eq!(spill.bytes() > 0, room <= BLOCK as u64);
            let all = list.all(&spill).expect("there is a disk");
            assert!(all.into_iter().eq(0..5000));
        }
    }
}
