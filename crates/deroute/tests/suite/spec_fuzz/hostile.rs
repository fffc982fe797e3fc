//! Values that a spec should not contain, and ways to put them there.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use toml::{Table, Value};

/// Integers at the edges of the types that a spec is read into.
pub const NUMBERS: [i64; 20] = [
    i64::MIN,
    -1,
    0,
    1,
    2,
    3,
    16,
    64,
    65,
    255,
    256,
    1024,
    65535,
    65536,
    1 << 24,
    (1 << 31) - 1,
    1 << 31,
    (1 << 32) - 1,
    1 << 32,
    i64::MAX,
];

/// Texts, some of them quantities or names.
pub const TEXTS: [&str; 24] = [
    "",
    " ",
    ".",
    "15 ns",
    "15ns",
    "1 KiB",
    "30 m",
    "1e9 s",
    "-1 ns",
    "0 ns",
    "0 B",
    "1.2.3 KB",
    "NaN ns",
    "\u{3c0} m",
    "15 \u{b5}s",
    "340282366920938463463374607431768211455 B",
    "999999999999999999999999 s",
    "0.00000000000000000000001 ps",
    "18446744073709551615 ns",
    "18446744073709551616 ns",
    "uniform",
    "lgl",
    "adversarial_local",
    "bernoulli",
];

/// Numbers that are no loads.
pub const FLOATS: [f64; 10] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 0.5, 1.0, 1e-320, 1e-18, 1e308];

/// Any value of any type.
fn hostile() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        3 => select(&NUMBERS[..]).prop_map(Value::Integer),
        1 => any::<i64>().prop_map(Value::Integer),
        2 => select(&FLOATS[..]).prop_map(Value::Float),
        2 => select(&TEXTS[..]).prop_map(Value::from),
        1 => ".{0,12}".prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::Boolean),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::btree_map("[a-z_]{1,8}", inner, 0..4)
                .prop_map(|entries| Value::Table(entries.into_iter().collect())),
        ]
    })
}

/// What is done to one key.
#[derive(Clone, Debug)]
pub enum Blow {
    Replace(Value),
    Remove,
    Rename(String),
    Add(String, Value),
}

/// What is done to a spec: each blow to a key.
pub fn blows() -> impl Strategy<Value = Vec<(Index, Blow)>> {
    let blow = prop_oneof![
        6 => hostile().prop_map(Blow::Replace),
        1 => Just(Blow::Remove),
        1 => "[a-z_.]{0,9}".prop_map(Blow::Rename),
        1 => ("[a-z]{1,5}", hostile()).prop_map(|(key, value)| Blow::Add(key, value)),
    ];
    proptest::collection::vec((any::<Index>(), blow), 1..4)
}

/// Paths of every key, those of tables in lists with their place in the list.
pub fn keys(table: &Table, prefix: &[String], found: &mut Vec<Vec<String>>) {
    for (key, value) in table {
        let path = [prefix, std::slice::from_ref(key)].concat();
        if let Value::Table(inner) = value {
            keys(inner, &path, found);
        }
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            if let Value::Table(inner) = item {
                keys(inner, &[&path[..], &[index.to_string()]].concat(), found);
            }
        }
        found.push(path);
    }
}

/// Does it.
pub fn strike(table: &mut Table, path: &[String], blow: Blow) {
    let (key, rest) = (&path[0], &path[1..]);
    if !rest.is_empty() {
        match table.get_mut(key) {
            Some(Value::Table(inner)) => strike(inner, rest, blow),
            Some(Value::Array(items)) => {
                let item = rest[0].parse().ok().and_then(|index: usize| items.get_mut(index));
                if let Some(Value::Table(inner)) = item {
                    strike(inner, &rest[1..], blow);
                }
            }
            _ => {}
        }
        return;
    }
    match blow {
        Blow::Replace(value) => drop(table.insert(key.clone(), value)),
        Blow::Remove => drop(table.remove(key)),
        Blow::Rename(name) => {
            if let Some(value) = table.remove(key) {
                table.insert(name, value);
            }
        }
        Blow::Add(name, value) => drop(table.insert(name, value)),
    }
}
