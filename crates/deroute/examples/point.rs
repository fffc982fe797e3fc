//! Runs one simulation point from a TOML file and prints its result as JSON.
//!
//! `cargo run --release --example point -- spec.toml [threads [partitions]]`

use std::ops::ControlFlow;

use deroute::{RunOptions, Simulation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let file = arguments.get(1).ok_or("usage: point SPEC.toml [THREADS [PARTITIONS]]")?;
    let number = |index: usize| arguments.get(index).map(|text| text.parse()).transpose();
    let (threads, partitions) = (number(2)?.unwrap_or(1), number(3)?);
    let options = RunOptions { threads, partitions, ..RunOptions::default() };
    let spec = toml::from_str(&std::fs::read_to_string(file)?)?;
    let simulation = Simulation::build(&spec)?;
    let outcome = simulation.run(&options, &mut |_| ControlFlow::Continue(()))?;
    println!("{}", serde_json::to_string_pretty(&outcome)?);
    Ok(())
}
