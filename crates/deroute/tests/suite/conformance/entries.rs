//! Every entry of a catalogue is in a table of the tests.

use std::collections::BTreeSet;

use deroute::spec::{
    CongestionPoint, Entropy, FlowControl, InjectionQueues, NotificationPoint, Queuing,
    ReactionPoint, Routing, Switch,
};
use schemars::{JsonSchema, SchemaGenerator};

use crate::support::catalogue::{
    FLOW_CONTROLS, GRAPH_ROUTINGS, HOLDING_SWITCHES, INJECTION_QUEUES, LATTICE_ROUTINGS, NOTIFIED,
    PAUSES, QUEUINGS, RECOVERED, ROUTINGS, SWITCHES, TABLE_ROUTINGS, TREE_ROUTINGS, WIDE_QUEUINGS,
};
use crate::support::controls::{
    CONGESTION_POINTS, ENTROPIES, NOTIFICATION_POINTS, REACTION_POINTS,
};
use crate::support::value;

/// The keys among which a spec chooses.
fn keys<T: JsonSchema>() -> BTreeSet<String> {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    let variants = schema.as_value()["oneOf"].as_array().expect("one of several tables");
    let key = |variant: &serde_json::Value| variant["required"][0].as_str().map(str::to_owned);
    variants.iter().map(|variant| key(variant).expect("a table with a key")).collect()
}

/// The values of a table are entries of the catalogue, and leave none out.
fn complete<T: JsonSchema + serde::de::DeserializeOwned>(
    values: impl IntoIterator<Item = &'static str>,
    name: fn(&T) -> &'static str,
) {
    let tested = values.into_iter().map(|text| name(&value(text)).to_owned()).collect();
    let missing: Vec<_> = keys::<T>().difference(&tested).cloned().collect();
    assert!(missing.is_empty(), "{missing:?} are in no table of support/catalogue.rs");
    let unknown: Vec<_> = tested.difference(&keys::<T>()).cloned().collect();
    assert!(unknown.is_empty(), "the files of {unknown:?} are not called as their keys");
}

/// What runs nothing but code from outside: the tests of the lab have its conformance checks.
const FROM_OUTSIDE: [&str; 1] = ["{ python = { file = 'par.py' } }"];

#[test]
fn every_entry_is_in_a_table() {
    complete(SWITCHES.into_iter().chain(HOLDING_SWITCHES), Switch::name);
    complete(FLOW_CONTROLS.into_iter().chain(PAUSES).chain(RECOVERED), FlowControl::name);
    complete(QUEUINGS.into_iter().flatten().chain(WIDE_QUEUINGS), Queuing::name);
    complete(INJECTION_QUEUES, InjectionQueues::name);
    complete(CONGESTION_POINTS, CongestionPoint::name);
    complete(NOTIFICATION_POINTS, NotificationPoint::name);
    complete(REACTION_POINTS.map(|(reaction, ..)| reaction), ReactionPoint::name);
    complete(ENTROPIES.map(|(entropy, ..)| entropy), Entropy::name);
    let routings =
        ROUTINGS.into_iter().chain(LATTICE_ROUTINGS).chain(TREE_ROUTINGS).chain(NOTIFIED);
    complete(
        routings.chain(GRAPH_ROUTINGS).chain(TABLE_ROUTINGS).chain(FROM_OUTSIDE),
        Routing::name,
    );
}
