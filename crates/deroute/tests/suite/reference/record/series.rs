//! The series of the time, bin by bin.

use deroute::outcome::{Outcome, SeriesColumns};
use deroute::probe::PathKind;

use super::super::report::Report;
use super::{Delivered, Record};

impl Record {
    pub(super) fn compare_series(&self, outcome: &Outcome, report: &mut Report) {
        let Some((start, width)) = self.series else {
            report.exact("series", outcome.series.is_some(), false);
            return;
        };
        let Some(series) = &outcome.series else { return report.exact("series", false, true) };
        let bins = (self.to - start) / width;
        let column = |at: fn(&Delivered) -> u32, value: fn(&Delivered) -> u64| {
            let mut sums = vec![0; bins as usize];
            for packet in &self.packets {
                if let Some(elapsed) = at(packet).checked_sub(start)
                    && elapsed / width < bins
                {
                    sums[(elapsed / width) as usize] += value(packet);
                }
            }
            sums
        };
        let columns = |at: fn(&Delivered) -> u32| SeriesColumns {
            packets: column(at, |_| 1),
            phits: column(at, |packet| packet.size.into()),
            latency_sum: column(at, Delivered::latency),
            nonminimal: column(at, |packet| (packet.kind != PathKind::Minimal).into()),
        };
        report.exact("start of the series", series.start, i64::from(start) - i64::from(self.from));
        let generation = columns(|packet| packet.generated);
        report.exact("by generation", padded(&series.by_generation, bins), generation);
        let delivery = columns(|packet| packet.end - 1);
        report.exact("by delivery", padded(&series.by_delivery, bins), delivery);
    }
}

/// The engine ends a series with its last packet; the model with its last bin.
fn padded(columns: &SeriesColumns, bins: u32) -> SeriesColumns {
    let pad = |column: &[u64]| {
        let mut column = column.to_vec();
        column.resize(bins as usize, 0);
        column
    };
    SeriesColumns {
        packets: pad(&columns.packets),
        phits: pad(&columns.phits),
        latency_sum: pad(&columns.latency_sum),
        nonminimal: pad(&columns.nonminimal),
    }
}
