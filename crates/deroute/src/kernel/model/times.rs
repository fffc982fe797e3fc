//! When a run begins and ends, and when it is looked at.

use crate::ids::Cycle;
use crate::spec::{
    AutomaticWarmup, Precision, Quantity, Run, Scale, Spec, SpecError, Warmup, WarmupRule,
};

/// Seed and durations, resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) seed: u64,
    pub(crate) warmup: WarmupTimes,
    pub(crate) measure: Cycle,
    /// Width of a series bin, and how long before the measurement the series begins.
    pub(crate) series: Option<(Cycle, Cycle)>,
    /// Cycles between samples of the agents, and the domain given router by router.
    pub(crate) agents: Option<(Cycle, u32)>,
    /// Cycles between samples of the congestion trees, and whether their buffers are recorded.
    pub(crate) congestion: Option<(Cycle, bool)>,
    pub(crate) watchdog: Cycle,
}

impl Times {
    /// Bins of a record of pauses.
    pub(crate) fn pause_bins(&self) -> u64 {
        self.series.map_or(0, |(width, before)| {
            (u64::from(before) + u64::from(self.measure)).div_ceil(width.into())
        })
    }

    /// Cycles of the run, at the most.
    pub(crate) fn most(&self) -> u64 {
        let warmup = match self.warmup {
            WarmupTimes::Fixed(warmup) => warmup,
            WarmupTimes::Automatic { limit, .. } => limit,
            WarmupTimes::Precise(asked) => asked.warmup.unwrap_or(LEAST),
        };
        u64::from(warmup) + u64::from(self.measure)
    }
}

/// When the measurement begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WarmupTimes {
    Fixed(Cycle),
    Automatic {
        interval: Cycle,
        limit: Cycle,
        growth: Option<usize>,
    },
    /// Where the means can be known well enough.
    Precise(Asked),
}

/// How well means are to be known, as shares of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub(crate) latency: Option<f64>,
    pub(crate) accepted: Option<f64>,
    /// Cycles before the measurement, at least.
    pub(crate) warmup: Option<Cycle>,
}

/// Cycles before a measurement that ends when enough is known, unless the spec says otherwise.
pub(crate) const LEAST: Cycle = 5_000;
/// Cycles of such a measurement, at least: intervals of shorter ones cover less than they say.
pub(crate) const LEAST_MEASURED: Cycle = 10_000;

/// Seed and durations that a spec asks for.
pub(super) fn resolve(spec: &Spec, scale: &Scale) -> Result<Times, SpecError> {
    let (run, probes) = (&spec.run, &spec.probes);
    let warmup = match (&run.precision, &run.warmup) {
        (Some(asked), _) => precise(asked, spec, scale)?,
        (None, Warmup::Fixed(Quantity::Number(0))) => WarmupTimes::Fixed(0),
        (None, Warmup::Fixed(time)) => WarmupTimes::Fixed(scale.duration("run.warmup", time)?),
        (None, Warmup::Automatic(auto)) => WarmupTimes::Automatic {
            interval: scale.interval("run.warmup.interval", &auto.interval, 1)?,
            limit: scale.duration("run.warmup.limit", &auto.limit)?,
            growth: growth(auto)?,
        },
    };
    let series = match (&probes.series, &probes.series_before) {
        (None, None) => None,
        (None, Some(_)) => {
            let message = "there is no series to begin earlier";
            return Err(SpecError::new("probes.series_before", message).choices(["probes.series"]));
        }
        (Some(width), before) => {
            let before =
                before.as_ref().map_or(Ok(0), |b| scale.duration("probes.series_before", b))?;
            if let WarmupTimes::Fixed(warmup) = warmup
                && before > warmup
            {
                let message = format!("{before} cycles before the measurement nothing has begun");
                let choices = [format!("0 to {warmup} cycles")];
                return Err(SpecError::new("probes.series_before", message).choices(choices));
            }
            Some((scale.duration("probes.series", width)?, before))
        }
    };
    let watchdog = match &spec.checks.watchdog {
        Some(time) => scale.duration("checks.watchdog", time)?,
        None => 20_000,
    };
    let measure = scale.duration("run.measure", &run.measure)?;
    let agents = match &probes.agents {
        None => None,
        Some(probe) => Some((scale.duration("probes.agents.every", &probe.every)?, probe.domain)),
    };
    let congestion = match &probes.congestion {
        None => None,
        Some(probe) => {
            Some((scale.duration("probes.congestion.every", &probe.every)?, probe.members))
        }
    };
    Ok(Times { seed: run.seed, warmup, measure, series, agents, congestion, watchdog })
}

/// Observations in which the latency must not grow, if that is the rule.
fn growth(auto: &AutomaticWarmup) -> Result<Option<usize>, SpecError> {
    if !(5..=1_000).contains(&auto.window) {
        let message = format!("{} observations are out of range", auto.window);
        return Err(SpecError::new("run.warmup.window", message).choices(["5 to 1000"]));
    }
    Ok((auto.rule == WarmupRule::StopsGrowing).then_some(auto.window as usize))
}

/// What is asked of a run that ends when enough is known.
fn precise(asked: &Precision, spec: &Spec, scale: &Scale) -> Result<WarmupTimes, SpecError> {
    let Precision { latency, accepted, warmup } = asked;
    let refuse = |path: &str, message: &str, choices: &[&str]| {
        Err(SpecError::new(path, message).choices(choices.iter().copied()))
    };
    if latency.is_none() && accepted.is_none() {
        let choices = ["latency = \"1%\"", "accepted = \"1%\""];
        return refuse("run.precision", "asks for nothing", &choices);
    }
    if spec.run.warmup != Run::default().warmup {
        let message = "a run with `run.precision` finds its beginning";
        return refuse("run.warmup", message, &["nothing", "run.precision.warmup"]);
    }
    let probes = &spec.probes;
    for (key, asked) in [
        ("series", probes.series.is_some()),
        ("agents", probes.agents.is_some()),
        ("congestion", probes.congestion.is_some()),
        ("queues", probes.queues.is_some()),
        ("rates", probes.rates.is_some()),
    ] {
        if asked {
            let message = "a record in time needs a measurement whose length is known";
            return refuse(&format!("probes.{key}"), message, &["no run.precision"]);
        }
    }
    let share = |key: &str, width: &Option<Quantity>| -> Result<Option<f64>, SpecError> {
        let path = format!("run.precision.{key}");
        width.as_ref().map(|width| scale.precision(&path, width)).transpose()
    };
    let time = |time: &Quantity| scale.duration("run.precision.warmup", time);
    Ok(WarmupTimes::Precise(Asked {
        latency: share("latency", latency)?,
        accepted: share("accepted", accepted)?,
        warmup: warmup.as_ref().map(time).transpose()?,
    }))
}
