//! What a flow may send, by any of the laws.

use super::receipt::Acknowledged;
use crate::ids::Cycle;

/// The constants of a law, which every flow of it follows.
pub(crate) trait Control {
    /// What is kept of a flow.
    type Flow: Allowance;

    /// A flow is limited from its first packet on, and not only after it has been told something.
    const AT_ONCE: bool = true;

    /// A flow whose limit has gone is remembered until it has one again.
    const REMEMBERS: bool = false;

    /// Bytes of a flow beside itself.
    const BOXED: u64 = 0;

    /// What is kept of a flow that has been told nothing.
    fn begin(&self) -> Self::Flow;

    /// What is kept of a flow that had a limit before, which is remembered.
    fn begin_again(&self, _before: &Self::Flow) -> Self::Flow {
        self.begin()
    }

    /// A host hears that a queue was too long by some feedback. Returns how long a cycle is that begins now, if one
    /// does.
    fn cut(&self, _own: &mut Self::Flow, _feedback: u8, _now: f64) -> Option<f64> {
        None
    }

    /// A host hears that a packet has come.
    fn hear(&self, _own: &mut Self::Flow, _heard: &Acknowledged<'_>) {}

    /// A packet is lost.
    fn lose(&self, _own: &mut Self::Flow, _lost: &Lost) {}

    /// So many phits are sent; `drawn` gives a uniform number in 0 to 1 if it is needed.
    fn send(&self, _own: &mut Self::Flow, _phits: u16, _drawn: impl FnOnce() -> f64) {}

    /// The time of a cycle is over. Returns how long the next one is; `drawn` is a uniform number in 0 to 1.
    fn expire(&self, _own: &mut Self::Flow, _drawn: f64) -> f64 {
        f64::INFINITY
    }
}

/// What a flow may send.
pub(crate) trait Allowance {
    /// How fast packets follow each other, as a share of the link.
    fn rate(&self) -> f64 {
        1.0
    }

    /// Phits that may be under way at once, if that is limited. One packet always may.
    fn window(&self) -> Option<f64> {
        None
    }

    /// There is nothing to limit any more.
    fn is_over(&self) -> bool {
        false
    }
}

impl<T: Allowance> Allowance for Box<T> {
    fn rate(&self) -> f64 {
        (**self).rate()
    }

    fn window(&self) -> Option<f64> {
        (**self).window()
    }

    fn is_over(&self) -> bool {
        (**self).is_over()
    }
}

/// A packet that is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lost {
    /// Its phits, and those that are under way.
    pub(crate) phits: u16,
    pub(crate) under_way: f64,
    /// The cycle in which that is known, because its time is over (`late`) or because its receiver asks for it.
    pub(crate) now: Cycle,
    pub(crate) late: bool,
}

/// Declares the catalogue of reaction points, and the laws that its files have: each a `Plan` with [`Control`].
macro_rules! reaction_points {
    ($($(#[$doc:meta])* $variant:ident => $file:ident::$parameters:ident,)*) => {
        catalogue! {
            /// What a host sends after what it has been told.
            enum ReactionPoint;
            /// Resolves the reaction point that the spec asks for.
            ///
            /// # Errors
            /// Values out of range, hosts without a link of their own, and what nothing would ever tell.
            fn build(&Setting) -> ReactionPlan;
            $($(#[$doc])* $variant => $file::$parameters,)*
        }

        /// The law of a reaction point, with its constants.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub(crate) enum Law {
            $($(#[$doc])* $variant($file::Plan),)*
        }

        /// What a flow may send: how fast, and how much at once.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub(crate) enum Limit {
            $($(#[$doc])* $variant(<$file::Plan as Control>::Flow),)*
        }

        /// Of a law and what it keeps of a flow, which belong together: what one does, or nothing.
        macro_rules! of_both {
            ($law:expr, $limit:expr, $plan:ident, $own:ident => $does:expr, $nothing:expr) => {
                match ($law, $limit) {
                    $((Law::$variant($plan), Limit::$variant($own)) => $does,)*
                    _ => $nothing,
                }
            };
        }

        impl Law {
            /// See [`Control::AT_ONCE`].
            pub(crate) fn limits_at_once(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$file::Plan as Control>::AT_ONCE,)*
                }
            }

            /// See [`Control::REMEMBERS`].
            pub(crate) fn remembers(&self) -> bool {
                match self {
                    $(Self::$variant(_) => <$file::Plan as Control>::REMEMBERS,)*
                }
            }

            /// See [`Control::BOXED`].
            pub(crate) fn boxed_bytes(&self) -> u64 {
                match self {
                    $(Self::$variant(_) => <$file::Plan as Control>::BOXED,)*
                }
            }

            /// See [`Control::begin`].
            pub(crate) fn begin(&self) -> Limit {
                match self {
                    $(Self::$variant(plan) => Limit::$variant(plan.begin()),)*
                }
            }

            /// See [`Control::begin_again`].
            pub(crate) fn begin_again(&self, before: &Limit) -> Limit {
                match (self, before) {
                    $((Self::$variant(plan), Limit::$variant(own)) => Limit::$variant(plan.begin_again(own)),)*
                    _ => self.begin(),
                }
            }

            /// See [`Control::cut`].
            pub(crate) fn cut(&self, limit: &mut Limit, feedback: u8, now: Cycle) -> Option<f64> {
                of_both!(self, limit, plan, own => plan.cut(own, feedback, now.into()), None)
            }

            /// See [`Control::hear`].
            pub(crate) fn hear(&self, limit: &mut Limit, heard: &Acknowledged<'_>) {
                of_both!(self, limit, plan, own => plan.hear(own, heard), ());
            }

            /// See [`Control::lose`].
            pub(crate) fn lose(&self, limit: &mut Limit, lost: &Lost) {
                of_both!(self, limit, plan, own => plan.lose(own, lost), ());
            }

            /// See [`Control::send`].
            pub(crate) fn send(&self, limit: &mut Limit, phits: u16, drawn: impl FnOnce() -> f64) {
                of_both!(self, limit, plan, own => plan.send(own, phits, drawn), ());
            }

            /// See [`Control::expire`].
            pub(crate) fn expire(&self, limit: &mut Limit, drawn: f64) -> f64 {
                of_both!(self, limit, plan, own => plan.expire(own, drawn), f64::INFINITY)
            }
        }

        impl Limit {
            /// See [`Allowance::rate`].
            pub(crate) fn rate(&self) -> f64 {
                match self {
                    $(Self::$variant(own) => own.rate(),)*
                }
            }

            /// See [`Allowance::window`].
            pub(crate) fn window(&self) -> Option<f64> {
                match self {
                    $(Self::$variant(own) => own.window(),)*
                }
            }

            /// See [`Allowance::is_over`].
            pub(crate) fn is_over(&self) -> bool {
                match self {
                    $(Self::$variant(own) => own.is_over(),)*
                }
            }
        }
    };
}

pub(crate) use reaction_points;
