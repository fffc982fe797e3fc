//! What hosts sent again.

use crate::kernel::model::Model;
use crate::outcome::RetransmissionUse;
use crate::probe::again::AgainRecord;
use crate::probe::collect::Collector;

/// The result, if hosts send again what does not come.
pub(crate) fn outcome(model: &Model, total: &Collector) -> Option<RetransmissionUse> {
    model.egress.retransmission?;
    let AgainRecord { trimmed, asked, late, resent, spared, duplicates } = total.again;
    let retransmitted = resent - spared;
    let mut says = Vec::new();
    if model.trims_any() {
        says.push(match trimmed {
            0 => "no packet was trimmed".to_owned(),
            _ => format!("{trimmed} packets were trimmed, and receivers asked for {asked}"),
        });
    }
    says.push(match (retransmitted, late) {
        (0, _) => "nothing was sent again".to_owned(),
        (_, 0) => format!("{retransmitted} packets were sent again, none of them after a timeout"),
        _ => format!(
            "{retransmitted} packets were sent again, with {late} timeouts; {duplicates} came twice"
        ),
    });
    let (nacks, timeouts) = (asked, late);
    Some(RetransmissionUse { says, trimmed, nacks, timeouts, retransmitted, duplicates })
}
