//! What is wrong with a trace, and where.

/// Where something is in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Anywhere in it.
    File,
    /// A line, from 1.
    Line(u64),
    /// A byte, from 0.
    Byte(u64),
}

impl Place {
    /// What it counts.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Line(_) => "line",
            Self::Byte(_) => "byte",
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    file: String,
    place: Place,
    message: String,
}

impl Fault {
    /// In a file as a whole.
    pub(super) fn file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self::at(file, Place::File, message)
    }

    /// At a place.
    pub(super) fn at(file: impl Into<String>, place: Place, message: impl Into<String>) -> Self {
        Self { file: file.into(), place, message: message.into() }
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, place, message } = self;
        match place {
            Place::File => write!(f, "{file}: {message}"),
            Place::Line(at) | Place::Byte(at) => {
                write!(f, "{file}, {} {at}: {message}", place.unit())
            }
        }
    }
}
