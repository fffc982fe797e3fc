//! The files of a trace: one, a folder, or an archive; compressed or not.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::fault::Fault;

/// Bytes that a file is told by.
const HEAD: u64 = 512;

/// A trace on disk.
pub(super) struct Files {
    /// As it was given.
    pub(super) name: String,
    kind: Kind,
}

enum Kind {
    One(PathBuf),
    /// Files of a folder, in the order of their names.
    Folder(Vec<PathBuf>),
    Archive(PathBuf),
}

/// A file as it is read.
pub(super) struct Input<'a> {
    /// Its name.
    pub(super) name: String,
    /// What it contains.
    pub(super) bytes: Box<dyn BufRead + 'a>,
}

/// Undoes the compression, if there is one.
fn unpacked<'a>(bytes: impl Read + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut bytes = BufReader::with_capacity(1 << 16, bytes);
    if bytes.fill_buf()?.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(bytes))));
    }
    Ok(Box::new(bytes))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// A file on disk.
fn opened(path: &Path) -> Result<Input<'static>, Fault> {
    let told = |error: io::Error| Fault::file(name(path), error.to_string());
    let bytes = unpacked(File::open(path).map_err(told)?).map_err(told)?;
    Ok(Input { name: name(path), bytes })
}

/// Whether the name of a file ends so, compressed or not.
fn ends(path: &Path, end: &str) -> bool {
    name(path).trim_end_matches(".gz").ends_with(&format!(".{end}"))
}

impl Files {
    /// Looks at what is there.
    pub(super) fn open(file: &str) -> Result<Self, Fault> {
        let told = |error: io::Error| Fault::file(file, error.to_string());
        let path = PathBuf::from(file);
        let kind = if fs::metadata(&path).map_err(told)?.is_dir() {
            let mut files = Vec::new();
            for entry in fs::read_dir(&path).map_err(told)? {
                let path = entry.map_err(told)?.path();
                if path.is_file() {
                    files.push(path);
                }
            }
            files.sort();
            Kind::Folder(files)
        } else if [".tar", ".tar.gz", ".tgz"].iter().any(|end| file.ends_with(end)) {
            Kind::Archive(path)
        } else {
            Kind::One(path)
        };
        Ok(Self { name: file.to_owned(), kind })
    }

    /// Reads one file after the other.
    pub(super) fn each(
        &self,
        mut read: impl FnMut(Input<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        match &self.kind {
            Kind::One(path) => read(opened(path)?),
            Kind::Folder(files) => files.iter().try_for_each(|path| read(opened(path)?)),
            Kind::Archive(path) => {
                let told = |error: io::Error| Fault::file(&self.name, error.to_string());
                let bytes = unpacked(File::open(path).map_err(told)?).map_err(told)?;
                for entry in tar::Archive::new(bytes).entries().map_err(told)? {
                    let entry = entry.map_err(told)?;
                    if !entry.header().entry_type().is_file() {
                        continue;
                    }
                    let name = name(&entry.path().map_err(told)?);
                    read(Input { name, bytes: unpacked(entry).map_err(told)? })?;
                }
                Ok(())
            }
        }
    }

    /// The only file.
    pub(super) fn one(&self) -> Result<Input<'_>, Fault> {
        let Kind::One(path) = &self.kind else {
            return Err(Fault::file(&self.name, "a trace of this format is one file"));
        };
        opened(path)
    }

    /// The only file, or the one of several whose name ends so.
    pub(super) fn one_with(&self, end: &str) -> Result<Input<'_>, Fault> {
        let Kind::Folder(files) = &self.kind else { return self.one() };
        let mut fits = files.iter().filter(|path| ends(path, end));
        let (Some(path), None) = (fits.next(), fits.next()) else {
            return Err(Fault::file(&self.name, format!("one file of a folder ends with .{end}")));
        };
        opened(path)
    }

    /// Reads the file of the same name that ends so instead, beside the only one, or in the folder.
    pub(super) fn beside(
        &self,
        end: &str,
        read: impl FnOnce(Input<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let found = match &self.kind {
            Kind::One(path) => {
                let name = name(path);
                let stem = name.trim_end_matches(".gz");
                let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
                Some(path.with_file_name(format!("{stem}.{end}"))).filter(|path| path.is_file())
            }
            Kind::Folder(files) => files.iter().find(|path| ends(path, end)).cloned(),
            Kind::Archive(_) => None,
        };
        let Some(path) = found else { return Ok(()) };
        read(opened(&path)?)
    }

    /// The first answer that a file has by its name and how it begins; files without content have none.
    pub(super) fn find<T>(
        &self,
        mut answer: impl FnMut(&str, &[u8]) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let mut found = None;
        self.each(|Input { name, bytes }| {
            if found.is_none() {
                let mut head = Vec::new();
                let told = |error: io::Error| Fault::file(&name, error.to_string());
                bytes.take(HEAD).read_to_end(&mut head).map_err(told)?;
                found = if head.is_empty() { None } else { answer(&name, &head) };
            }
            Ok(())
        })?;
        Ok(found)
    }
}
