"use strict";
// Draws the figures of a report from its rows, and keeps figures and table to what is chosen.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const hidden = {};
  for (const axis of data.axes) hidden[axis.name] = new Set();

  const element = (tag, text, parent, attributes = {}) => {
    const made = document.createElement(tag);
    if (text !== null) made.textContent = text;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (parent) parent.append(made);
    return made;
  };
  const seen = (row) => data.axes.every((axis) => !hidden[axis.name].has(String(row.labels[axis.name])));
  const number = (value) => (value === null || value === undefined ? "–" : Number(value.toPrecision(4)).toString());
  const escaped = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
  const unitOf = (most) => units.find(([, size]) => most >= 2 * size) || units[3];

  const rowsOf = (figure) => data.rows.filter((row) =>
    seen(row) && Object.entries(figure.where).every(([axis, labels]) => labels.includes(row.labels[axis])));

  const labelsOf = (figure, axis, rows) => {
    if (axis === null) return [null];
    const there = new Set(rows.map((row) => row.labels[axis]));
    return data.every[axis].filter((label) => there.has(label));
  };

  const curve = (figure, rows) => {
    const points = rows.filter((row) => row.values[figure.y] && row.values[figure.y].mean !== null);
    if (!figure.cut) return [points, []];
    // Where the curve ends: the first saturated point above which none is steady.
    const last = Math.max(...points.map((row, index) => (row.state === "steady" ? index : -1)), -1);
    const end = points.find((row, index) => index > last && row.state === "saturated");
    const before = end === undefined ? points : points.slice(0, points.indexOf(end));
    return [before.filter((row) => row.state !== "saturated"), end === undefined ? [] : [end]];
  };

  const tell = (figure, row, unit, name) => {
    const value = row.values[figure.y];
    const half = value.ci === null ? "" : ` ± ${number(value.ci / unit[1])}`;
    const of = figure.cut && row.state === "saturated" ? "no latency" : `${number(value.mean / unit[1])}${half} ${unit[0]}`;
    return `${escaped(name)}<br>${escaped(figure.x)} = ${escaped(row.labels[figure.x])}<br>${of}<br>${row.state}`;
  };

  // All panels reach as far as the data do, also where a curve ends.
  const reach = (figure, rows) => {
    if (!figure.numeric) return undefined;
    const places = rows.map((row) => row.labels[figure.x]);
    return [Math.min(0, ...places), 1.05 * Math.max(...places)];
  };

  const draw = (figure) => {
    const place = document.getElementById(figure.id);
    const rows = rowsOf(figure);
    place.replaceChildren();
    const panels = labelsOf(figure, figure.panel, rows);
    if (!rows.length) {
      const why = data.rows.length ? "Nothing of this figure is chosen above." : "No point is finished yet.";
      element("p", why, place, { class: "quiet" });
      return;
    }
    const numbers = rows.filter((row) => row.values[figure.y] && !(figure.cut && row.state === "saturated"))
      .map((row) => row.values[figure.y].mean).filter((value) => value !== null);
    const most = Math.max(...numbers, 0);
    const unit = figure.time ? unitOf(most) : [figure.unit, 1];
    const first = panels.flatMap((panel) => labelsOf(figure, figure.series, rows).map((label) => {
      const own = rows.filter((row) => (figure.series === null || row.labels[figure.series] === label)
        && (figure.panel === null || row.labels[figure.panel] === panel))
        .filter((row) => row.state !== "saturated").sort((a, b) => a.labels[figure.x] - b.labels[figure.x]);
      return own.length ? own[0].values[figure.y].mean : 0;
    }));
    const top = figure.cut ? Math.min(1.25 * most, 2.6 * Math.max(...first, 1)) / unit[1] : null;
    // All of them first: a plot is as wide as its place is when it is drawn.
    const boxes = panels.map((panel) => {
      const box = element("div", null, place);
      if (panel !== null) element("h3", `${figure.panel} = ${panel}`, box);
      return box;
    });
    for (const [at, panel] of panels.entries()) {
      const box = boxes[at];
      const inside = rows.filter((row) => figure.panel === null || row.labels[figure.panel] === panel);
      const traces = [];
      const ended = [];
      for (const label of labelsOf(figure, figure.series, inside)) {
        const own = inside.filter((row) => figure.series === null || row.labels[figure.series] === label);
        if (figure.numeric) own.sort((a, b) => a.labels[figure.x] - b.labels[figure.x]);
        const index = figure.series === null ? 0 : data.every[figure.series].indexOf(label);
        const look = data.looks[index % data.looks.length];
        const name = label === null ? figure.title : String(label);
        const [shown, gone] = curve(figure, own);
        const bars = figure.kind === "bars";
        traces.push({
          type: bars ? "bar" : "scatter", mode: "lines+markers", name: escaped(name), legendgroup: name,
          x: shown.map((row) => row.labels[figure.x]),
          y: shown.map((row) => row.values[figure.y].mean / unit[1]),
          error_y: { type: "data", array: shown.map((row) => (row.values[figure.y].ci || 0) / unit[1]), thickness: 1 },
          line: { color: look.colour, dash: look.dash },
          marker: { color: look.colour, size: 8,
            symbol: bars ? undefined : shown.map((row) => look.symbol + (row.state === "not-converged" ? "-open" : "")) },
          customdata: shown.map((row) => row.id), hoverinfo: "text",
          hovertext: shown.map((row) => tell(figure, row, unit, name)),
        });
        if (gone.length) {
          // Those at the same place stand below each other.
          const place = String(gone[0].labels[figure.x]);
          const before = ended.filter((each) => each === place).length;
          ended.push(place);
          traces.push({
            type: "scatter", mode: "markers", name: escaped(`${name}: saturated`), legendgroup: name, showlegend: false,
            x: gone.map((row) => row.labels[figure.x]), y: gone.map(() => top * (1 - 0.035 * before)),
            marker: { color: look.colour, size: 11, symbol: "triangle-up-open" }, cliponaxis: false,
            customdata: gone.map((row) => row.id), hoverinfo: "text",
            hovertext: gone.map((row) => tell(figure, row, unit, name)),
          });
        }
      }
      const plot = element("div", null, box, { class: "plot", role: "img", tabindex: "0",
        "aria-label": `${figure.title}${panel === null ? "" : `, ${figure.panel} = ${panel}`}; the numbers are in the table of results` });
      const unitText = unit[0] ? ` (${unit[0]})` : "";
      Plotly.newPlot(plot, traces, {
        margin: { l: 64, r: 24, t: figure.series === null ? 20 : 40, b: 52 }, font: { size: 13 }, barmode: "group", hovermode: "closest",
        xaxis: { title: { text: escaped(figure.xTitle) }, range: reach(figure, rows), type: figure.numeric ? "linear" : "category", automargin: true, ticks: "outside",
          rangemode: figure.numeric ? "tozero" : "normal" },
        yaxis: { title: { text: escaped(figure.yTitle + unitText) }, rangemode: "tozero", automargin: true, ticks: "outside",
          range: top === null ? undefined : [0, 1.02 * top] },
        legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0, title: { text: figure.series ? escaped(figure.series) : "" } },
        showlegend: figure.series !== null,
      }, { responsive: true, displaylogo: false, showSendToCloud: false, plotlyServerURL: "",
        modeBarButtonsToRemove: ["select2d", "lasso2d"] });
      plot.on("plotly_click", (event) => choose(event.points[0].customdata));
    }
  };

  const choose = (id) => {
    for (const row of document.querySelectorAll("tr.chosen")) row.classList.remove("chosen");
    const row = document.getElementById(id);
    if (!row) return;
    row.classList.add("chosen");
    row.scrollIntoView({ block: "center" });
    row.focus();
  };

  let order = null;
  const table = document.getElementById("rows");
  const fill = () => {
    const rows = data.rows.filter(seen);
    if (order !== null) {
      const key = (row) => row.sort[order.column];
      rows.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (order.down ? -1 : 1));
    }
    const body = document.createElement("tbody");
    for (const row of rows) {
      const line = element("tr", null, body, { id: row.id, tabindex: "-1" });
      for (const cell of row.cells) element("td", cell, line);
      element("td", row.state, line, { class: row.state });
      if (row.why) {
        const below = element("tr", null, body, { class: "reason" });
        element("div", row.why, element("td", null, below, { class: "why", colspan: line.cells.length }), { class: "quiet" });
      }
    }
    table.tBodies[0].replaceWith(body);
    document.getElementById("count").textContent = `${rows.length} of ${data.rows.length} rows`;
  };
  table.querySelectorAll("th button").forEach((button, column) => {
    button.addEventListener("click", () => {
      order = { column, down: order !== null && order.column === column && !order.down };
      table.querySelectorAll("th").forEach((head) => head.removeAttribute("aria-sort"));
      button.parentElement.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      fill();
    });
  });

  const update = () => { fill(); data.figures.forEach(draw); };
  const filters = document.getElementById("filters");
  for (const axis of data.axes) {
    const set = element("fieldset", null, filters);
    element("legend", axis.name, set);
    for (const label of axis.labels) {
      const line = element("label", null, set);
      const box = element("input", null, line, { type: "checkbox", checked: "" });
      line.append(` ${label}`);
      box.addEventListener("change", () => {
        if (box.checked) hidden[axis.name].delete(String(label)); else hidden[axis.name].add(String(label));
        update();
      });
    }
  }
  update();
  document.documentElement.dataset.ready = "yes";
})();
