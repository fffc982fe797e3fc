//! Small typed indices.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(Serialize, Deserialize)]
        pub struct $name(pub $inner);

        impl $name {
            /// As an array index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// A router of the whole network.
    RouterId, u32
);
id!(
    /// A host (terminal) of the whole network.
    HostId, u32
);
id!(
    /// A port of one router: hosts first, then links. Both directions share the number.
    PortId, u16
);
id!(
    /// A virtual channel of one port.
    VcId, u8
);

/// Simulated time in cycles. A run is shorter than 2^32 cycles, which `build` checks.
pub type Cycle = u32;
