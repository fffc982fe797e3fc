//! The flows whose rates are recorded.

use std::collections::BTreeSet;

use super::{MOST_VALUES, Model};
use crate::ids::Cycle;
use crate::outcome::RatedFlow;
use crate::spec::{ProbedFlows, Spec, SpecError};

/// Samples of rates, resolved.
pub(crate) struct RatePlan {
    pub(crate) every: Cycle,
    pub(crate) flows: Vec<RatedFlow>,
    /// They have windows.
    pub(crate) windows: bool,
}

/// The record of rates that a spec asks for.
///
/// # Errors
/// Hosts that are not there, hosts without limiters, and a record that is too large.
pub(super) fn rates(spec: &Spec, model: &Model) -> Result<Option<RatePlan>, SpecError> {
    let Some(probe) = &spec.probes.rates else { return Ok(None) };
    let Some(reaction) = &model.egress.reaction_point else {
        let message = "nothing limits the rate of a host";
        let error = SpecError::new("probes.rates", message);
        return Err(error.choices(["network.nic.reaction_point"]));
    };
    let windows = reaction.law.begin().window().is_some();
    let every = model.scale.duration("probes.rates.every", &probe.every)?;
    let flows = chosen(&probe.flows, model.topology.hosts())?;
    let before = model.times.series.map_or(0, |(_, before)| before);
    let span = u64::from(before) + u64::from(model.times.measure);
    let values = flows.len() as u64;
    if span.div_ceil(every.into()).saturating_mul(values) > MOST_VALUES {
        let message = format!(
            "{values} rates every {every} of {span} cycles are more than {MOST_VALUES} values"
        );
        let least = span.div_ceil((MOST_VALUES / values).max(1));
        let choices = [format!("{least} cycles or more"), "fewer flows".to_owned()];
        return Err(SpecError::new("probes.rates.every", message).choices(choices));
    }
    Ok(Some(RatePlan { every, flows, windows }))
}

/// The flows that are asked for, each once.
fn chosen(flows: &ProbedFlows, hosts: u32) -> Result<Vec<RatedFlow>, SpecError> {
    let path = "probes.rates.flows";
    let known = |at: String, host: u32| match host < hosts {
        true => Ok(host),
        false => {
            let error = SpecError::new(at, format!("there is no host {host}"));
            Err(error.choices([format!("0 to {}", hosts - 1)]))
        }
    };
    let found: Vec<RatedFlow> = match flows {
        ProbedFlows::Hosts(list) => {
            let host = |(n, host): (usize, &u32)| {
                let host = known(format!("{path}.hosts[{n}]"), *host)?;
                Ok(RatedFlow { host, destination: None })
            };
            list.iter().enumerate().map(host).collect::<Result<_, SpecError>>()?
        }
        ProbedFlows::Pairs(list) => {
            let pair = |(n, [host, to]): (usize, &[u32; 2])| {
                let at = || format!("{path}.pairs[{n}]");
                let (host, destination) = (known(at(), *host)?, Some(known(at(), *to)?));
                Ok(RatedFlow { host, destination })
            };
            list.iter().enumerate().map(pair).collect::<Result<_, SpecError>>()?
        }
    };
    let mut seen = BTreeSet::new();
    let twice = found.iter().find(|flow| !seen.insert((flow.host, flow.destination)));
    if let Some(RatedFlow { host, destination }) = twice {
        let to = destination.map_or_else(String::new, |to| format!(" to host {to}"));
        let message = format!("host {host}{to} is there twice");
        return Err(SpecError::new(path, message).choices(["each flow once"]));
    }
    if found.is_empty() {
        return Err(SpecError::new(path, "there is no flow").choices(["some hosts", "some pairs"]));
    }
    Ok(found)
}

impl RatePlan {
    /// Samples between two cycles.
    pub(crate) fn samples(&self, from: Cycle, to: Cycle) -> u64 {
        u64::from(to.saturating_sub(from).div_ceil(self.every))
    }
}
