//! An outcome's arrays as NumPy arrays. The memory moves to NumPy; nothing is copied.

use deroute::outcome::{
    Arrays, CongestionSeries, JobArrays, Outcome, PauseRow, PauseSeries, QueuePlace, QueueSeries,
    QueueSide, RateSeries, RatedFlow, Series, SeriesColumns, TreeMember, TreeRoot,
};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Takes the arrays out of `outcome`: name -> array, in `arrays.*`, `series.*`, `agents.*`,
/// `congestion.*`, `queues.*`, `rates.*`, `pauses.*`, `streams.NAME.*` and `jobs.NAME.*`.
pub fn take<'py>(py: Python<'py>, outcome: &mut Outcome) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let path_kinds = std::mem::take(&mut outcome.arrays.path_kinds);
    let columns = path_kinds.len().max(1);
    // Exhaustive on purpose: a new array does not compile until it is handed over.
    let Arrays {
        injected_by_host,
        accepted_by_host,
        injected_by_router,
        paths_by_router,
        path_kinds: _,
        link_use,
        link_at,
    } = std::mem::take(&mut outcome.arrays);
    vector(&dict, "arrays.injected_by_host", injected_by_host)?;
    vector(&dict, "arrays.accepted_by_host", accepted_by_host)?;
    vector(&dict, "arrays.injected_by_router", injected_by_router)?;
    matrix(&dict, "arrays.paths_by_router", paths_by_router, columns)?;
    vector(&dict, "arrays.link_use", link_use)?;
    matrix(&dict, "arrays.link_at", link_at, 2)?;
    outcome.arrays.path_kinds = path_kinds;
    if let Some(Series { start: _, width: _, by_generation, by_delivery }) = &mut outcome.series {
        series(&dict, "series.by_generation", by_generation)?;
        series(&dict, "series.by_delivery", by_delivery)?;
    }
    for stream in &mut outcome.streams {
        let name = format!("streams.{}", stream.name);
        stream.series.iter_mut().try_for_each(|columns| series(&dict, &name, columns))?;
    }
    if let Some(agents) = &mut outcome.agents {
        let (samples, routers, names) =
            (agents.mean.len() / agents.names.len(), agents.routers.len(), agents.names.len());
        let values = PyArray1::from_vec(py, std::mem::take(&mut agents.values));
        dict.set_item("agents.values", values.reshape([samples, routers, names])?)?;
        matrix(&dict, "agents.mean", std::mem::take(&mut agents.mean), names)?;
    }
    if let Some(series) = &mut outcome.congestion {
        congestion(&dict, series)?;
    }
    if let Some(series) = &mut outcome.queues {
        queues(&dict, series)?;
    }
    if let Some(series) = &mut outcome.rates {
        rates(&dict, series)?;
    }
    if let Some(series) = &mut outcome.pauses {
        pauses(&dict, series)?;
    }
    for each in outcome.workload.iter_mut().flat_map(|workload| &mut workload.jobs) {
        job(&dict, &each.name, &mut each.arrays)?;
    }
    Ok(dict)
}

fn job(dict: &Bound<'_, PyDict>, job: &str, arrays: &mut JobArrays) -> PyResult<()> {
    let JobArrays {
        iteration_end,
        rank_end,
        rank_computed,
        rank_collective,
        rank_receive,
        rank_send,
        rank_wait,
        timeline_ranks,
        timeline_begin,
        timeline_activity,
        path_what,
        path_rank,
        path_from,
        path_begin,
        path_end,
        flow_source,
        flow_destination,
        flow_phits,
        flow_start,
        flow_time,
        flow_alone,
    } = std::mem::take(arrays);
    let at = |name: &str| format!("jobs.{}.{name}", job);
    vector(dict, &at("iteration_end"), iteration_end)?;
    vector(dict, &at("rank_end"), rank_end)?;
    vector(dict, &at("rank_computed"), rank_computed)?;
    vector(dict, &at("rank_collective"), rank_collective)?;
    vector(dict, &at("rank_receive"), rank_receive)?;
    vector(dict, &at("rank_send"), rank_send)?;
    vector(dict, &at("rank_wait"), rank_wait)?;
    if !timeline_ranks.is_empty() {
        vector(dict, &at("timeline_ranks"), timeline_ranks)?;
        vector(dict, &at("timeline_begin"), timeline_begin)?;
        vector(dict, &at("timeline_activity"), timeline_activity)?;
    }
    if !path_what.is_empty() {
        vector(dict, &at("path_what"), path_what)?;
        vector(dict, &at("path_rank"), path_rank)?;
        vector(dict, &at("path_from"), path_from)?;
        vector(dict, &at("path_begin"), path_begin)?;
        vector(dict, &at("path_end"), path_end)?;
    }
    if !flow_source.is_empty() {
        vector(dict, &at("flow_source"), flow_source)?;
        vector(dict, &at("flow_destination"), flow_destination)?;
        vector(dict, &at("flow_phits"), flow_phits)?;
        vector(dict, &at("flow_start"), flow_start)?;
        vector(dict, &at("flow_time"), flow_time)?;
        vector(dict, &at("flow_alone"), flow_alone)?;
    }
    Ok(())
}

fn series(dict: &Bound<'_, PyDict>, name: &str, columns: &mut SeriesColumns) -> PyResult<()> {
    let SeriesColumns { packets, phits, latency_sum, nonminimal } = std::mem::take(columns);
    vector(dict, &format!("{name}.packets"), packets)?;
    vector(dict, &format!("{name}.phits"), phits)?;
    vector(dict, &format!("{name}.latency_sum"), latency_sum)?;
    vector(dict, &format!("{name}.nonminimal"), nonminimal)
}

fn congestion(dict: &Bound<'_, PyDict>, all: &mut CongestionSeries) -> PyResult<()> {
    let CongestionSeries {
        start,
        width,
        trees,
        depth,
        buffers,
        hosts,
        queued,
        held,
        blocked,
        roots,
        members,
    } = std::mem::take(all);
    (all.start, all.width) = (start, width);
    vector(dict, "congestion.trees", trees)?;
    vector(dict, "congestion.depth", depth)?;
    vector(dict, "congestion.buffers", buffers)?;
    vector(dict, "congestion.hosts", hosts)?;
    vector(dict, "congestion.queued", queued)?;
    vector(dict, "congestion.held", held)?;
    vector(dict, "congestion.blocked", blocked)?;
    let root = |tree: TreeRoot| {
        let TreeRoot { sample, router, port, host, depth, routers, buffers, hosts, phits } = tree;
        let place = [sample, router, port].map(i64::from);
        let host = [host.map_or(-1, i64::from)];
        let counts = [depth, routers, buffers, hosts, phits].map(i64::from);
        [place.as_slice(), &host, &counts].concat()
    };
    matrix(dict, "congestion.roots", roots.into_iter().flat_map(root).collect(), 9)?;
    let member = |buffer: TreeMember| {
        let TreeMember { tree, router, port, vc, level, phits } = buffer;
        [tree, router, port, vc, level, phits]
    };
    matrix(dict, "congestion.members", members.into_iter().flat_map(member).collect(), 6)
}

fn queues(dict: &Bound<'_, PyDict>, all: &mut QueueSeries) -> PyResult<()> {
    let QueueSeries { start, width, places, phits } = std::mem::take(all);
    (all.start, all.width) = (start, width);
    let place = |place: QueuePlace| {
        let QueuePlace { router, port, host, side, vc, capacity, xoff, xon } = place;
        let side = i64::from(side == QueueSide::Output);
        let limits = [capacity, xoff, xon].map(none);
        [router.into(), port.into(), none(host), side, none(vc), limits[0], limits[1], limits[2]]
    };
    let columns = places.len();
    matrix(dict, "queues.places", places.into_iter().flat_map(place).collect(), 8)?;
    matrix(dict, "queues.phits", phits, columns)
}

fn rates(dict: &Bound<'_, PyDict>, all: &mut RateSeries) -> PyResult<()> {
    let RateSeries { start, width, flows, rates, windows } = std::mem::take(all);
    (all.start, all.width) = (start, width);
    let flow = |RatedFlow { host, destination }: RatedFlow| [host.into(), none(destination)];
    let columns = flows.len();
    matrix(dict, "rates.flows", flows.into_iter().flat_map(flow).collect(), 2)?;
    matrix(dict, "rates.rates", rates, columns)?;
    matrix(dict, "rates.windows", windows, columns)
}

fn pauses(dict: &Bound<'_, PyDict>, all: &mut PauseSeries) -> PyResult<()> {
    let PauseSeries { start, width, rows, paused } = std::mem::take(all);
    (all.start, all.width) = (start, width);
    let row = |row: PauseRow| {
        let PauseRow {
            from,
            to,
            host,
            vc,
            class,
            frames,
            stops,
            paused,
            buffer_max,
            headroom_max,
            lost_packets,
            lost_phits,
            trimmed_packets,
        } = row;
        let [from_router, from_port] = from.map_or([-1; 2], |from| from.map(i64::from));
        let [router, port] = to.map(i64::from);
        let ends = [from_router, from_port, router, port, none(host), none(vc), class.into()];
        let counts = [frames, stops, paused, buffer_max.into(), headroom_max.into()];
        let lost = [lost_packets, lost_phits, trimmed_packets];
        let counts = counts.into_iter().chain(lost).map(|count| count as i64);
        ends.into_iter().chain(counts).collect::<Vec<_>>()
    };
    let columns = rows.len();
    matrix(dict, "pauses.rows", rows.into_iter().flat_map(row).collect(), 15)?;
    matrix(dict, "pauses.paused", paused, columns)
}

/// A number that may be absent.
fn none(value: Option<u32>) -> i64 {
    value.map_or(-1, i64::from)
}

fn vector<T: Element>(dict: &Bound<'_, PyDict>, name: &str, values: Vec<T>) -> PyResult<()> {
    dict.set_item(name, PyArray1::from_vec(dict.py(), values))
}

fn matrix<T: Element>(
    dict: &Bound<'_, PyDict>,
    name: &str,
    values: Vec<T>,
    columns: usize,
) -> PyResult<()> {
    let rows = values.len() / columns;
    dict.set_item(name, PyArray1::from_vec(dict.py(), values).reshape([rows, columns])?)
}
