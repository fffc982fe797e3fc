//! What hosts sent again.

use crate::kernel::model::Model;
use crate::outcome::RetransmissionUse;
use crate::probe::collect::Collector;
use crate::probe::retransmission::RetransmissionRecord;

/// The result, if hosts send again what does not come.
pub(crate) fn outcome(model: &Model, total: &Collector) -> Option<RetransmissionUse> {
    model.egress.retransmission?;
    let RetransmissionRecord { trimmed, nacks, timeouts, resent, spared, duplicates } =
        total.retransmission;
    let retransmitted = resent - spared;
    let mut says = Vec::new();
    if model.trims_any() {
        says.push(match trimmed {
            0 => "no packet was trimmed".to_owned(),
            _ => format!("{trimmed} packets were trimmed, and receivers asked for {nacks}"),
        });
    }
    says.push(match (retransmitted, timeouts) {
        (0, _) => "nothing was sent again".to_owned(),
        (_, 0) => format!("{retransmitted} packets were sent again, none of them after a timeout"),
        _ => format!(
            "{retransmitted} packets were sent again, with {timeouts} timeouts; {duplicates} came twice"
        ),
    });
    Some(RetransmissionUse { says, trimmed, nacks, timeouts, retransmitted, duplicates })
}
