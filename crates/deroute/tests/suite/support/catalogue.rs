//! Every routing, pattern, injection and packet size that a spec can ask for, with its variants.

/// Routing algorithms, as TOML values.
pub const ROUTINGS: [&str; 46] = [
    "{ minimal = {} }",
    "{ valiant = {} }",
    "{ valiant = { own_group = false } }",
    "{ valiant = { phase_a = 'lg-' } }",
    "{ valiant = { phase_a = '-gl' } }",
    "{ valiant = { phase_a = '-g-' } }",
    "{ valiant = { vc_use = 'next-feasible' } }",
    "{ ugal = {} }",
    "{ ugal = { queue = 'vc', threshold = 8 } }",
    "{ ugal = { redecide = true, phase_a = '-gl' } }",
    "{ ugal = { redecide = true, queue = 'vc', hops = 'consecutive', threshold = -4 } }",
    "{ ugal = { phase_a = 'lg-', own_group = false, vc_use = 'next-feasible' } }",
    "{ piggyback = {} }",
    "{ piggyback = { factor_percent = 100, flag_threshold = 2 } }",
    "{ piggyback = { own_port_in_mean = true, flag_threshold = 6, ugal = { redecide = true } } }",
    "{ piggyback = { flag_threshold = 1, \
       ugal = { queue = 'vc', redecide = true, threshold = 5 } } }",
    "{ piggyback = { flag_threshold = 9, ugal = { phase_a = '-g-', vc_use = 'next-feasible' } } }",
    "{ valiant = { restricted = true } }",
    "{ valiant = { phase_a = '-g-', recompute = true, vc_use = 'next-feasible' } }",
    "{ valiant = { restricted = true, recompute = true } }",
    "{ valiant = { phase_a = { acor = { interval = 40, raise = [3, 9], lower = [1, 4] } } } }",
    "{ valiant = { phase_a = { acor = { sequence = '2L-A', raise = [0, 0], lower = [9, 9] } }, \
       restricted = false } }",
    "{ valiant = { phase_a = { acor = { sequence = '2L-B', interval = 7, raise = [1, 2] } } } }",
    "{ valiant = { phase_a = { acor = { per = 'packet' } } } }",
    "{ valiant = { phase_a = { acor = { per = 'packet', sequence = '2L-B' } }, \
       vc_use = 'next-feasible' } }",
    "{ ugal = { recompute = true, restricted = true, threshold = -4 } }",
    "{ ugal = { phase_a = { acor = { interval = 30, raise = [2, 4] } } } }",
    "{ piggyback = { flag_threshold = 3, ugal = { recompute = true, restricted = true } } }",
    "{ piggyback = { flag_threshold = 3, \
       ugal = { phase_a = { acor = { interval = 50, raise = [2, 5] } } } } }",
    "{ tpr = { low = 1, high = 2, window = 40, thresholds = [9, -4, -20] } }",
    "{ tpr = { count = 'extended', stored_percent = 50, low = 0, high = 1, window = 15, \
       ugal = { recompute = true, restricted = true, queue = 'vc' } } }",
    "{ tpr = { count = 'stored', low = 1, high = 1, thresholds = [5, 0, -9], \
       ugal = { phase_a = { acor = { interval = 30, raise = [2, 4] } } } } }",
    "{ lian = {} }",
    "{ lian = { window = 30, low = 1, high = 2, thresholds = [6, -3, -15], ilc_threshold = 1, \
       gcs_threshold = 1, sgc_threshold = 0 } }",
    "{ lian = { count = 'stored', low = 1, high = 1, ilc_threshold = 0, gcs_threshold = 0, \
       sgc_threshold = 0, recompute = false, queue = 'vc', vc_use = 'next-feasible' } }",
    "{ lian = { count = 'injected', window = 60, decide = 'counters', low = 1, high = 1, \
       ilc_threshold = 2, gcs_threshold = 2, sgc_threshold = 1, restricted = false } }",
    "{ lian = { decide = 'counters', whole_path = true, low = 0, high = 9, ilc_threshold = 1, \
       gcs_threshold = 1, sgc_threshold = 0, window = 50 } }",
    "{ lian = { whole_path = true, restricted = false, low = 0, high = 0, stored_percent = 1000, \
       thresholds = [0, 0, -50], ilc_threshold = 0, gcs_threshold = 3, sgc_threshold = 1, \
       hops = 'consecutive', vc_use = 'next-feasible' } }",
    "{ valiant = { phase_a = '-g-', vc_use = 'compact' } }",
    "{ ugal = { phase_a = 'lg-', restricted = true, redecide = true, vc_use = 'compact' } }",
    "{ mar_bp = { paused = 'credits' } }",
    "{ mar_bp = { paused = 'credits', redecide = true, vc_use = 'compact' } }",
    "{ piggyback = { flag_threshold = 2, flags = 'vc', broadcast = 1, ugal = { hops = 'simple' } } }",
    "{ ugal = { information = 'global' } }",
    "{ ugal = { information = 'global', queue = 'port', threshold = 8, redecide = true } }",
    "{ valiant = { phase_a = { acor = { trigger = 'rounds', interval = 30, raise = [3, 7] } } } }",
];

/// Patterns that need groups, as TOML values.
pub const PATTERNS: [&str; 8] = [
    "'uniform'",
    "{ adversarial = { offset = 1 } }",
    "{ adversarial = { offset = -1 } }",
    "'adversarial_local'",
    "{ adversarial_consecutive = {} }",
    "{ adversarial_consecutive = { groups = 1 } }",
    "{ permutation = { seed = 7 } }",
    "{ mix = [{ weight = 1, pattern = 'uniform' }, \
       { weight = 3, pattern = { adversarial = { offset = 1 } } }] }",
];

/// Patterns that do not, as TOML values.
pub const PLAIN_PATTERNS: [&str; 3] = [
    "'uniform'",
    "{ permutation = {} }",
    "{ mix = [{ weight = 2, pattern = 'uniform' }, \
       { weight = 1, pattern = { permutation = {} } }] }",
];

/// Patterns of networks of 16 hosts, as TOML values; in some of them hosts are silent. Only lattices have
/// coordinates.
pub const HOST_PATTERNS: [&str; 17] = [
    "'bit_complement'",
    "'bit_reverse'",
    "{ bit_rotation = {} }",
    "{ bit_rotation = { by = 2 } }",
    "'shuffle'",
    "'butterfly'",
    "'transpose'",
    "{ tornado = {} }",
    "{ tornado = { ring = { digits = 4 } } }",
    "{ neighbour = {} }",
    "{ neighbour = { ring = { digits = 2 } } }",
    "{ shift = {} }",
    "{ tornado = { ring = 'coordinates' } }",
    "{ neighbour = { ring = 'coordinates' } }",
    "{ mix = [{ weight = 1, pattern = { shift = { by = -3 } } }, \
       { weight = 2, pattern = 'butterfly' }] }",
    "{ pairs = { list = [[0, 5], [5, 0], [2, 15, 7], [2, 3, 3], [9, 2], [12, 9], [13, 9, 4]] } }",
    "{ matrix = { rows = [[0, 1, 1, 0, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], \
       [9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], \
       [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3], [0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], \
       [0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], \
       [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0], \
       [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], [2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], \
       [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 8, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0], \
       [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], \
       [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]] } }",
];

/// Networks of 16 hosts, as TOML values of `network.topology`.
pub const SIXTEEN: [&str; 6] = [
    "{ kary_tree = { k = 2, levels = 4 } }",
    "{ rlft = { ports = 4, stages = 3 } }",
    "{ crossbar = { hosts = 16 } }",
    "{ hyperx = { widths = [4, 2], hosts = 2 } }",
    "{ dragonfly = { p = 2, a = 2, h = 2, groups = 4 } }",
    "{ graph = { hosts = 4, edges = [[0, 1], [1, 2], [2, 3], [3, 0]] } }",
];

/// Packet sizes up to 16 phits, as TOML values.
pub const SIZES: [&str; 6] = [
    "1",
    "4",
    "10",
    "16",
    "{ min = 1, max = 16 }",
    "[{ size = 1, weight = 3 }, { size = 7, weight = 1 }, { size = 16, weight = 2 }]",
];

/// Injection processes, as TOML values.
pub const INJECTIONS: [&str; 4] = [
    "'bernoulli'",
    "{ on_off = { burst = 5.0 } }",
    "{ on_off = { burst = 1.5, peak = 0.97 } }",
    "'paced'",
];

/// Switches that hold packets of 16 phits, as TOML values. Those with a small output buffer, or a
/// pipeline that is longer or shorter than a packet, are the delicate ones. Routings that decide again
/// refuse those that route on arrival: see [`super::switch`].
pub const SWITCHES: [&str; 23] = [
    "{ input_queued = {} }",
    "{ input_queued = { pipeline = 1, allocator = { iterations = 1, pointer = 'on-request' } } }",
    "{ input_queued = { pipeline = 10, allocator = { arbiter = 'age' } } }",
    "{ input_queued = { pipeline = 2, routed = 'arrival' } }",
    "{ input_queued = { pipeline = 10, routed = 'arrival', \
       allocator = { arbiter = 'age', iterations = 3, pointer = 'on-grant' } } }",
    "{ combined_queued = { speedup = 1, pipeline = 3, output_buffer = 16 } }",
    "{ combined_queued = { speedup = 2, pipeline = 0, output_buffer = 16 } }",
    "{ combined_queued = { speedup = 2, pipeline = 1, output_buffer = 20 } }",
    "{ combined_queued = { speedup = 2, pipeline = 3, output_buffer = 40, \
       allocator = { iterations = 1, transit_priority = true } } }",
    "{ combined_queued = { speedup = 2, pipeline = 90, output_buffer = 630 } }",
    "{ combined_queued = { speedup = 2, pipeline = 10, output_buffer = 64, \
       allocator = { arbiter = 'age', transit_priority = true } } }",
    "{ combined_queued = { speedup = 3, pipeline = 0, output_buffer = 33, \
       allocator = { iterations = 3, pointer = 'on-request' } } }",
    "{ combined_queued = { speedup = 3, pipeline = 90, output_buffer = 17, \
       allocator = { iterations = 3, arbiter = 'age', pointer = 'on-request' } } }",
    "{ combined_queued = { speedup = 3, pipeline = 3, output_buffer = 50, \
       allocator = { pointer = 'on-request', transit_priority = true } } }",
    "{ combined_queued = { speedup = 64, pipeline = 2, output_buffer = 24 } }",
    "{ output_queued = {} }",
    "{ output_queued = { pipeline = 3, output_buffer = 16 } }",
    "{ output_queued = { pipeline = 90, output_buffer = 100 } }",
    "{ virtual_output_queued = {} }",
    "{ virtual_output_queued = { pipeline = 3, iterations = 2 } }",
    "{ virtual_output_queued = { pipeline = 90, iterations = 4 } }",
    "{ combined_queued = { speedup = 2, pipeline = 3, output_buffer = 40, \
       allocator = { arbiter = 'least-recently-served', iterations = 3, transit_priority = true } } }",
    "{ input_queued = { pipeline = 2, allocator = { arbiter = 'random', pointer = 'on-grant' } } }",
];

/// Switches in which packets keep the memory of their input until they leave, as TOML values.
pub const HOLDING_SWITCHES: [&str; 3] = [
    "{ input_buffered_output_queued = {} }",
    "{ input_buffered_output_queued = { pipeline = 7 } }",
    "{ input_buffered_output_queued = { pipeline = 3, memory_bandwidth = 2 } }",
];

/// Flow controls that pause, or lose packets, with headroom for packets of 16 phits and links of up to 150
/// cycles, as TOML values.
pub const PAUSES: [&str; 6] = [
    "{ pfc = { response = 0, frame = 4 } }",
    "{ pfc = { response = 5, phy_delay = 2, frame = 4, xoff = 64, xon = 16 } }",
    "{ pfc = { response = 0, frame = 4, quanta = 50 } }",
    "{ pause = { response = 3, frame = 4 } }",
    "{ pfc = { response = 0, xoff = 200, xon = 180, frame = 4, lossy = true } }",
    "{ lossy = {} }",
];

/// Flow controls that lose packets which hosts send again, as TOML values.
pub const RECOVERED: [&str; 3] = ["{ trim = {} }", "{ trim = { header = 1 } }", "{ lossy = {} }"];

/// Ways to choose among several injection queues, as TOML values.
pub const INJECTION_QUEUES: [&str; 2] =
    ["{ destination = { count = 3 } }", "{ flow = { count = 4 } }"];

/// Flow controls, as TOML values.
pub const FLOW_CONTROLS: [&str; 2] =
    ["{ credits = {} }", "{ cbfc = { interval = 6, message = 1, cell = 4, lost_messages = 0.1 } }"];

/// Lattices.
pub const LATTICES: [&str; 7] = [
    "{ widths = [2], hosts = 2 }",
    "{ widths = [4], hosts = 2 }",
    "{ widths = [3, 4], hosts = 2 }",
    "{ widths = [4, 4], hosts = 3 }",
    "{ widths = [2, 2, 2, 2], hosts = 1 }",
    "{ widths = [4, 2, 4], hosts = 1 }",
    "{ widths = [4, 2], hosts = 2, trunk = 2 }",
];

/// Routings of a lattice.
pub const LATTICE_ROUTINGS: [&str; 37] = [
    "{ minimal = {} }",
    "{ valiant = {} }",
    "{ valiant = { restricted = true, recompute = true } }",
    "{ ugal = {} }",
    "{ ugal = { restricted = true, recompute = true, queue = 'vc' } }",
    "{ piggyback = { flag_threshold = 3 } }",
    "{ dimwar = {} }",
    "{ dimwar = { queue = 'port' } }",
    "{ omniwar = {} }",
    "{ omniwar = { deroutes = 0 } }",
    "{ omniwar = { deroutes = 1, queue = 'port', offset = 5 } }",
    "{ omniwar = { back_to_back = false } }",
    "{ omniwar = { deroutes = 2, back_to_back = false } }",
    "{ omniwar = { back_to_back = false, redecide = true } }",
    "{ dimwar = { classes = 'arrival' } }",
    "{ dimwar = { classes = 'arrival', redecide = true } }",
    "{ dimwar = { queue = 'port', offset = 20, redecide = true } }",
    "{ o1turn = {} }",
    "{ o1turn = { orders = 'all' } }",
    "{ min_ad = {} }",
    "{ min_ad = { queue = 'port', redecide = true } }",
    "{ clos_ad = {} }",
    "{ clos_ad = { queue = 'port', offset = 9 } }",
    "{ clos_ad = { sequential = true } }",
    "{ dal = {} }",
    "{ dal = { queue = 'port', offset = 30 } }",
    "{ dal = { atomic = false } }",
    "{ valiant = { phase_a = '-g-' } }",
    "{ valiant = { phase_a = '-gl', restricted = true } }",
    "{ ugal = { phase_a = '-gl', redecide = true } }",
    "{ valiant = { phase_a = { acor = { interval = 40, raise = [3, 9], lower = [1, 4] } } } }",
    "{ ugal = { phase_a = { acor = { per = 'packet' } }, restricted = false } }",
    "{ piggyback = { flag_threshold = 3, \
       ugal = { phase_a = { acor = { interval = 50, raise = [2, 5] } } } } }",
    "{ mar_bp = { paused = 'credits', redecide = true } }",
    "{ mar_bp = { paused = 'credits', alternatives = 'minimal' } }",
    "{ clos_ad = { intermediate = 'chosen' } }",
    "{ clos_ad = { intermediate = 'chosen', sequential = true, queue = 'port' } }",
];

/// Patterns of a lattice; not every lattice has all of them.
pub const LATTICE_PATTERNS: [&str; 9] = [
    "'uniform'",
    "'bit_complement'",
    "{ complement = { dimension = 1 } }",
    "{ complement = { dimension = 2 } }",
    "'swap2'",
    "'dimension_complement_reverse'",
    "{ permutation = { seed = 3 } }",
    "'swap2_shift'",
    "'dimension_complement_reverse_fixed'",
];

/// Dragonflies: p, a, h, groups, trunk, arrangement, mirror.
pub const DRAGONFLIES: [&str; 10] = [
    "{ p = 1, a = 2, h = 1 }",
    "{ p = 2, a = 2, h = 1, mirror = true }",
    "{ p = 1, a = 2, h = 1, groups = 2 }",
    "{ p = 2, a = 3, h = 1, groups = 3, arrangement = 'consecutive' }",
    "{ p = 1, a = 4, h = 1, trunk = 2 }",
    "{ p = 2, a = 3, h = 2, trunk = 3 }",
    "{ p = 1, a = 2, h = 2, groups = 4 }",
    "{ p = 2, a = 4, h = 2 }",
    "{ p = 2, a = 4, h = 2, groups = 5, arrangement = 'consecutive' }",
    "{ p = 1, a = 4, h = 2, groups = 4, trunk = 2, mirror = true }",
];

/// Fat trees, as TOML values of `network.topology`.
pub const TREES: [&str; 9] = [
    "{ rlft = { ports = 4, stages = 3 } }",
    "{ rlft = { ports = 6, stages = 2 } }",
    "{ rlft = { ports = 4, stages = 1 } }",
    "{ kary_tree = { k = 2, levels = 4 } }",
    "{ fat_tree = { children = [2, 3, 2], parents = [1, 2, 1], parallel = [1, 1, 2] } }",
    "{ fat_tree = { children = [3, 2, 3], parents = [1, 3, 2], parallel = [1, 2, 1] } }",
    "{ fat_tree = { children = [1, 1, 4], parents = [1, 1, 3] } }",
    "{ folded_clos = { ports = 4, levels = 3, groups = 2 } }",
    "{ folded_clos = { ports = 4, levels = 4, groups = 3 } }",
];

/// Routings of a fat tree.
pub const TREE_ROUTINGS: [&str; 21] = [
    "{ minimal = {} }",
    "{ mod_k = {} }",
    "{ mod_k = { of = 'source' } }",
    "{ up_oblivious = {} }",
    "{ up_oblivious = { when = 'source' } }",
    "{ up_oblivious = { draw = 'round-robin' } }",
    "{ up_oblivious = { draw = 'round-robin', when = 'source' } }",
    "{ ecmp = {} }",
    "{ ecmp = { seed = 7 } }",
    "{ up_adaptive = {} }",
    "{ up_adaptive = { trigger = 'TH', low = 0.8 } }",
    "{ up_adaptive = { trigger = '2TH', low = 0.6, high = 0.9 } }",
    "{ up_adaptive = { stages = [1] } }",
    "{ up_adaptive = { ties = 'random' } }",
    "{ up_adaptive = { ties = 'mod-k', delta = 2 } }",
    "{ up_adaptive = { ties = 'random', redecide = true } }",
    "{ up_adaptive = { trigger = '2TH', low = 0.5, high = 0.7, redecide = true } }",
    "{ up_adaptive = { trigger = '2TH', stages = [1], delta = 2, low = 0.7, high = 1.0 } }",
    "{ mar_bp = { paused = 'credits' } }",
    "{ mar_bp = { paused = 'credits', alternatives = 'minimal', redecide = true } }",
    "{ up_adaptive = { full = 'random', delta = 2 } }",
];

/// A network, as a TOML value of `network.topology`, and forwarding tables for it.
pub const TABLE_NETWORK: &str = "{ graph = { hosts = 1, edges = [[0, 1]] } }";

/// Tables of that network.
pub const TABLE_ROUTINGS: [&str; 1] =
    ["{ table = { rules = \"router,destination,ports\\n0,0,0\\n0,1,1\\n1,0,1\\n1,1,0\\n\" } }"];

/// Routings that follow notifications of congestion: of a Dragonfly and a lattice, and of a fat tree.
pub const NOTIFIED: [&str; 16] = [
    "{ qcn_switch = {} }",
    "{ qcn_switch = { feedback = 'base', vc_use = 'compact' } }",
    "{ qcn_switch = { feedback = 'base', source_processing = 'same', packets = 5, limit = 0.01 } }",
    "{ qcn_switch = { source_processing = 'base', alternatives = 2, upper = 5.0 } }",
    "{ qcn_switch = { upper = 2.0, lower = 1.0, decay = 200, least = 10.0, \
       decrease_law = 'subtractive', increase_law = 'multiplicative', \
       source_processing = 'same', source_inputs = 'local' } }",
    "{ switch_ar = {} }",
    "{ switch_ar = { level = 'last', timer = 300 } }",
    "{ switch_ar = { level = 'flag', aging = 'reset', timer = 500 } }",
    "{ switch_ar = { level = 'recent', aging = 'never' } }",
    "{ switch_ar = { share = 0.3, timer = 400 } }",
    "{ switch_ar = { at = 'source', timer = 400 } }",
    "{ qcn_switch = { phase_a = 'lgl', endpoint = 'ignored' } }",
    "{ qcn_switch = { phase_a = { lian = { window = 60, ilc_threshold = 2, gcs_threshold = 2, \
       sgc_threshold = 1 } }, feedback = 'base', packets = 20, limit = 0.01 } }",
    "{ qcn_switch = { phase_a = { acor = { trigger = 'notifications', interval = 300, \
       raise = [1, 2], lower = [1, 2] } }, vc_use = 'compact', upper = 5.0 } }",
    "{ valiant = { phase_a = { acor = { trigger = 'notifications', interval = 200, raise = [0, 1], \
       lower = [1, 1], sequence = '2L-A' } } } }",
    "{ ugal = { redecide = true, phase_a = { acor = { trigger = 'notifications', interval = 200, \
       raise = [0, 1], lower = [1, 1] } } } }",
];

/// Queuing schemes; the first is none.
pub const QUEUINGS: [Option<&str>; 5] = [
    None,
    Some("{ dbbm = { queues = 3 } }"),
    Some("{ vftree = { queues = 2 } }"),
    Some("{ flow2sl = {} }"),
    Some("{ blocks = { queues = 2, block = 3 } }"),
];

/// Queuing schemes for links with 60 VCs.
pub const WIDE_QUEUINGS: [&str; 3] =
    ["{ dbbm = { queues = 2 } }", "{ flow2sl = {} }", "{ voqnet = {} }"];

/// Hot spots of networks with at least 8 hosts; the first are none.
pub const HOTSPOTS: [&str; 5] = [
    "[]",
    "[{ destinations = { any = [3] }, sources = { random = { share = 0.4 } } }]",
    "[{ destinations = { each = [0, 5] }, sources = { hosts = [1, 2, 7] }, share = 0.5 }]",
    "[{ destinations = { any = [1, 4] }, start = 100, stop = 1_000 }, \
       { destinations = { each = [2] }, sources = { even = { share = 0.3 } } }]",
    "[{ destinations = { up_ports = { stage = 1, ports = 2 } }, share = 0.7 }]",
];

/// Graphs, as TOML values; the third has routers without hosts and parallel links.
pub const GRAPHS: [&str; 4] = [
    "{ hosts = 2, edges = [[0, 1], [1, 2], [2, 3], [3, 0]] }",
    "{ hosts = 1, edges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [0, 2], [1, 4]], \
       ties = { hash = { seed = 3 } } }",
    "{ hosts = [2, 0, 3, 0, 1], edges = [[0, 1], [0, 1], [1, 2], [0, 3], [3, 2], [3, 4]] }",
    "{ hosts = [4], edges = [] }",
];

/// Routings of a graph.
pub const GRAPH_ROUTINGS: [&str; 5] = [
    "{ minimal = {} }",
    "{ valiant = {} }",
    "{ valiant = { recompute = true } }",
    "{ ugal = {} }",
    "{ ugal = { redecide = true, queue = 'port', threshold = 3 } }",
];
