//! Controls of congestion that tests go through: every entry of their catalogues, with what it lives on.

/// Congestion points, for loaded networks with buffers of some hundred phits.
pub const CONGESTION_POINTS: [&str; 3] = [
    "{ ecn = { kmin = 4, kmax = 20, pmax = 0.5 } }",
    "{ qcn = { q_eq = 30, sample = { bytes = 40 } } }",
    "{ int = {} }",
];

/// Notification points.
pub const NOTIFICATION_POINTS: [&str; 2] = [
    "{ cnp = { interval = 60, notifications = { size = 2 } } }",
    "{ acknowledgement = { notifications = { size = 2 } } }",
];

/// Reaction points, with the congestion point and the notification point that each is told by.
pub const REACTION_POINTS: [(&str, Option<&str>, Option<&str>); 8] = [
    (
        "{ qcn = { byte_counter = 60, timer = 400, active_increase = '1/100', \
           hyper_increase = '1/20', least_rate = '1/50' } }",
        Some(CONGESTION_POINTS[1]),
        None,
    ),
    (
        "{ dcqcn = { byte_counter = 60, timer = 80, alpha_timer = 80, active_increase = '1/100', \
           hyper_increase = '1/20', least_rate = '1/50' } }",
        Some(CONGESTION_POINTS[0]),
        Some(NOTIFICATION_POINTS[0]),
    ),
    ("{ window = { size = 40 } }", None, Some(NOTIFICATION_POINTS[1])),
    (
        "{ swift = { target = 90, increase = 1.0, decrease = 0.8, most_cut = 0.5, \
           least_window = 2, largest_window = 80 } }",
        None,
        Some(NOTIFICATION_POINTS[1]),
    ),
    ("{ nscc = { base_rtt = 90 } }", Some(CONGESTION_POINTS[0]), Some(NOTIFICATION_POINTS[1])),
    (
        "{ timely = { segment = 20, low = 60, high = 300, least_time = 40, increase = '1/100' } }",
        None,
        Some(NOTIFICATION_POINTS[1]),
    ),
    (
        "{ hpcc = { base_rtt = 150, increase = 1 } }",
        Some(CONGESTION_POINTS[2]),
        Some(NOTIFICATION_POINTS[1]),
    ),
    (
        "{ dctcp = { largest_window = 80, initial_window = 40 } }",
        Some(CONGESTION_POINTS[0]),
        Some(NOTIFICATION_POINTS[1]),
    ),
];

/// Entropies, with the congestion point and the notification point that each is told by.
pub const ENTROPIES: [(&str, Option<&str>, Option<&str>); 3] = [
    ("{ flow = {} }", None, None),
    ("{ oblivious = { values = 64 } }", None, None),
    ("{ reps = {} }", Some(CONGESTION_POINTS[0]), Some(NOTIFICATION_POINTS[1])),
];
