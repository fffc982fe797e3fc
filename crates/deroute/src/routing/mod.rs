pub mod spec;
mod minimal;
mod piggyback;
mod ugal;
mod valiant;
