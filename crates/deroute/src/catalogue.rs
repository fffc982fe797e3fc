//! One file and one line for each implementation of a concept.

/// Declares the files of a catalogue, the spec that chooses among them, and the function that hands
/// what was chosen to its file.
///
/// First the name of the spec, then that function with what it plans for and what it plans, then a
/// line `Variant => file::Parameters` for each file, which has a function `plan(&Parameters,
/// &Setting)`.
macro_rules! catalogue {
    (
        $(#[$about:meta])*
        enum $name:ident;
        $(#[$how:meta])*
        fn $build:ident(&$setting:ty) -> $plan:ty;
        $($(#[$doc:meta])* $variant:ident => $file:ident::$parameters:ident,)*
    ) => {
        $(pub mod $file;)*

        /// The parameters of every entry.
        pub mod parameters {
            $(pub use super::$file::$parameters;)*
        }

        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case", deny_unknown_fields)]
        pub enum $name {
            $($(#[$doc])* $variant($file::$parameters),)*
        }

        impl $name {
            /// Its key in a spec, and the name of its file.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => stringify!($file),)*
                }
            }
        }

        $(#[$how])*
        pub fn $build(spec: &$name, setting: &$setting) -> Result<$plan, SpecError> {
            match spec {
                $($name::$variant(spec) => $file::plan(spec, setting),)*
            }
        }
    };
}

pub(crate) use catalogue;
