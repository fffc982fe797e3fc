//! The hooks of a routing algorithm, and what a routing that wraps another one does with them.
//!
//! Both traits come from one list. A hook is either passed on by every wrapper as it is, or one that each
//! wrapper writes itself, because it speaks of queues or VCs; the list has to say which. A wrapper that
//! does not write all of these does not compile, so that a new hook is never swallowed by a default.

use super::header::Header;
use super::ladder::Hop;
use super::{Fault, Follows, Injection, Message, Notification, Queue, Queues, RouterView, Watches};
use crate::ids::{Cycle, PortId, RouterId, VcId};
use crate::state::CheckpointError;

/// Declares [`Routing`] and [`Wrapper`]: of the one hook that every algorithm and every wrapper writes, those
/// that every wrapper writes, and those that are passed on.
macro_rules! hooks {
    (
        $(#[$main_doc:meta])*
        fn $main:ident(& mut $this:ident $(, $main_arg:ident: $main_type:ty)*) -> $main_out:ty;

        written {$(
            $(#[$written_doc:meta])*
            fn $written:ident(
                & $($written_self:ident)+ $(, $written_arg:ident: $written_type:ty)* $(,)?
            ) $(-> $written_out:ty)? { $($written_body:tt)* }
        )*}

        passed {$(
            $(#[$passed_doc:meta])*
            fn $passed:ident(
                & $($passed_self:ident)+ $(, $passed_arg:ident: $passed_type:ty)* $(,)?
            ) $(-> $passed_out:ty)? { $($passed_body:tt)* }
        )*}
    ) => {
        /// A routing algorithm, with the state of every router that it is asked for.
        pub trait Routing: Send {
            $(#[$main_doc])*
            fn $main(&mut $this $(, $main_arg: $main_type)*) -> $main_out;

            $($(#[$written_doc])*
            fn $written(
                & $($written_self)+ $(, $written_arg: $written_type)*
            ) $(-> $written_out)? { $($written_body)* })*

            $($(#[$passed_doc])*
            fn $passed(
                & $($passed_self)+ $(, $passed_arg: $passed_type)*
            ) $(-> $passed_out)? { $($passed_body)* })*
        }

        /// A routing around another one, which it calls where it wants to: a [`Routing`] that passes
        /// on all hooks but those named here. To leave one of these to a default is an error:
        ///
        /// ```compile_fail,E0046
        /// use deroute::routing::{Header, Hop, RouterView, Routing, Wrapper};
        ///
        /// struct Around(Box<dyn Routing>);
        ///
        /// impl Wrapper for Around {
        ///     fn inner(&self) -> &dyn Routing {
        ///         &*self.0
        ///     }
        ///     fn inner_mut(&mut self) -> &mut dyn Routing {
        ///         &mut *self.0
        ///     }
        ///     fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop {
        ///         self.0.route(view, header)
        ///     }
        /// }
        /// ```
        pub trait Wrapper: Send {
            /// The routing that is wrapped.
            fn inner(&self) -> &dyn Routing;

            /// The routing that is wrapped, to be told something.
            fn inner_mut(&mut self) -> &mut dyn Routing;

            /// See the hook of [`Routing`].
            fn $main(&mut $this $(, $main_arg: $main_type)*) -> $main_out;

            $($(#[$written_doc])*
            fn $written(
                & $($written_self)+ $(, $written_arg: $written_type)*
            ) $(-> $written_out)?;)*
        }

        impl<W: Wrapper> Routing for W {
            fn $main(&mut $this $(, $main_arg: $main_type)*) -> $main_out {
                Wrapper::$main($this $(, $main_arg)*)
            }

            $(fn $written(
                & $($written_self)+ $(, $written_arg: $written_type)*
            ) $(-> $written_out)? {
                Wrapper::$written(itself!($($written_self)+) $(, $written_arg)*)
            })*

            $(fn $passed(
                & $($passed_self)+ $(, $passed_arg: $passed_type)*
            ) $(-> $passed_out)? {
                inner!($($passed_self)+).$passed($($passed_arg),*)
            })*
        }
    };
}

/// The wrapper.
macro_rules! itself {
    ($this:ident) => {
        $this
    };
    (mut $this:ident) => {
        $this
    };
}

/// What it wraps.
macro_rules! inner {
    ($this:ident) => {
        $this.inner()
    };
    (mut $this:ident) => {
        $this.inner_mut()
    };
}

hooks! {
    /// Chooses the next hop of a packet at the head of a queue. The packet is not at its
    /// destination router (or still in phase A), and the intermediate router has already been
    /// recognised: the phase is up to date. Called when the head is first considered, and, if the
    /// algorithm reconsiders, again every time that it is considered in an injection queue, or in
    /// any queue.
    fn route(&mut self, view: &mut RouterView<'_>, header: &mut Header) -> Hop;

    written {
        /// Says that packets in transit just [`super::follow`] their path. They are then sent on
        /// without a call of [`Routing::route`]. Asked once.
        fn follows(&self) -> Option<Follows> {
            None
        }

        /// The VC that every head can turn to whatever else it asks for, if there is one; asked once.
        /// Then only what waits for this VC can be part of a deadlock. Needs [`Watches::transit`].
        fn escape(&self) -> Option<VcId> {
            None
        }

        /// The queues of a router changed in the previous cycle, or credits arrived in this one.
        /// Messages go to all other routers of the domain.
        fn queues_changed(
            &mut self,
            _router: RouterId,
            _queues: &dyn Queues,
            _messages: &mut Vec<Message>,
        ) {
        }

        /// Appends to a checkpoint what it remembers of its routers, with which [`Routing::load`] goes on in an agent
        /// that was made for the same routers. Refuses by default, so that nothing is forgotten.
        ///
        /// # Errors
        /// [`CheckpointError::Unkept`]: its state cannot be kept.
        fn save(&self, _into: &mut Vec<u8>) -> Result<(), CheckpointError> {
            Err(CheckpointError::forgets::<Self>())
        }

        /// Takes off the front what [`Routing::save`] appended.
        ///
        /// # Errors
        /// [`CheckpointError::Damaged`]: it is something else.
        fn load(&mut self, _from: &mut &[u8]) -> Result<(), CheckpointError> {
            Err(CheckpointError::forgets::<Self>())
        }
    }

    passed {
        /// What else the algorithm wants to be told; asked once.
        fn watches(&self) -> Watches {
            Watches::default()
        }

        /// A VC takes a packet only while nothing is left of another in it, and its buffer is known to
        /// be empty (atomic queue allocation); asked once.
        fn atomic(&self) -> bool {
            false
        }

        /// A message arrived in the domain of `from`, which sent it.
        fn message(&mut self, _from: RouterId, _content: u32) {}

        /// Something happened to a packet in an injection queue. Entering packets are seen before the
        /// heads of the cycle are routed, blocked ones after all grants of the cycle.
        fn injection(&mut self, _queue: Queue, _event: Injection, _header: &Header) {}

        /// A notification of congestion was made by a router, or granted an output there.
        fn notified(&mut self, _told: &Notification) {}

        /// A packet left a router by a port for another one.
        fn sent(&mut self, _router: RouterId, _port: PortId) {}

        /// Names of the values that [`Routing::read`] gives for each router.
        fn gauges(&self) -> Vec<String> {
            Vec::new()
        }

        /// Appends the state of a router at the beginning of cycle `now`, a value for each gauge.
        fn read(&mut self, _router: RouterId, _now: Cycle, _values: &mut Vec<f64>) {}

        /// What it did so far, by name: counts that add up over all routers. Nothing if it has nothing to
        /// say, and zeros if it could have acted and did not.
        fn deeds(&self) -> Vec<(&'static str, u64)> {
            Vec::new()
        }

        /// Why the run cannot go on, if that is so: what code from outside of the engine did.
        fn fault(&self) -> Option<&Fault> {
            None
        }

        /// Bytes that it keeps for its routers, as many for each: a part of the footprint of a run.
        fn bytes(&self) -> usize {
            0
        }
    }
}
