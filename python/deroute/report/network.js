"use strict";
// Plays congestion trees on the drawings of networks: a slider, a button, one run at a time.
(() => {
  const space = "http://www.w3.org/2000/svg";
  const time = [["s", 1e6], ["ms", 1e3], ["µs", 1]];
  const told = (us) => {
    const [name, size] = time.find(([, least]) => Math.abs(us) >= least) || ["ns", 1e-3];
    return `${Number((us / size).toPrecision(4))} ${name}`;
  };
  const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

  for (const network of JSON.parse(document.getElementById("played").textContent)) {
    const player = document.getElementById(`${network.id}-player`);
    const layer = document.getElementById(`${network.id}-trees`);
    const stars = document.getElementById(`${network.id}-roots`);
    const drawing = document.getElementById(network.id);
    const [run, button, slider] = ["select", "button", "input"].map((tag) => player.querySelector(tag));
    let timer = null;
    let fresh = true;
    const most = (frames) => frames.reduce((best, frame, at) => (frame.held > frames[best].held ? at : best), 0);

    const made = (place, name, attributes) => {
      const element = document.createElementNS(space, name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      place.append(element);
    };
    const line = ([from, to, tree, phits, bend], thickest) => {
      // Lines are bent as the link beneath is, which is drawn from the lower dot to the higher.
      const [x, y, u, v] = [...network.places[Math.min(from, to)], ...network.places[Math.max(from, to)]];
      const across = [(x + u) / 2 - 2 * bend * (v - y), (y + v) / 2 + 2 * bend * (u - x)];
      made(layer, "path", { d: `M${x} ${y}Q${across[0]} ${across[1]} ${u} ${v}`, fill: "none", stroke: network.colours[tree],
        "stroke-width": (0.8 + (Math.min(4, 0.6 * network.size) * phits) / thickest).toFixed(2), "stroke-linecap": "round" });
    };
    const star = ([dot, tree], before) => {
      // Beside the dot, whose number stays legible, and beside other roots there.
      const [x, y] = network.places[dot].map((place, axis) =>
        place + (axis ? -0.9 : 0.9) * network.size + (axis ? 0 : 6 * before));
      const points = [...Array(10).keys()].map((corner) => {
        const [size, turn] = [corner % 2 ? 3 : 7.5, (corner * Math.PI) / 5];
        return `${(x + size * Math.sin(turn)).toFixed(1)},${(y - size * Math.cos(turn)).toFixed(1)}`;
      });
      made(stars, "polygon", { points: points.join(" "), fill: network.colours[tree], stroke: "#1b1b1b", "stroke-width": 0.8 });
    };
    const paint = (kind, each) => {
      const dot = document.getElementById(`${network.id}-${kind}${each[0]}`);
      dot.style.stroke = network.colours[each[1]];
      dot.style.strokeWidth = kind === "h" ? "3px" : "2.5px";
    };
    const show = () => {
      const { frames, thickest, members } = network.runs[run.value];
      const frame = frames[slider.value];
      layer.replaceChildren();
      stars.replaceChildren();
      for (const dot of drawing.querySelectorAll("circle")) dot.removeAttribute("style");
      for (const each of frame.lines) line(each, thickest);
      for (const each of frame.dots) paint("r", each);
      for (const each of frame.hosts) paint("h", each);
      // The largest last, so that it is on top.
      const roots = frame.roots.map((each, at) => [each, frame.roots.slice(0, at).filter(([dot]) => dot === each[0]).length]);
      for (const [each, before] of roots.reverse()) star(each, before);
      const share = frame.queued ? Math.round((100 * frame.held) / frame.queued) : 0;
      const parts = [told(frame.us), count(frame.trees, "tree", "trees")];
      if (frame.trees) {
        parts.push(`${count(frame.depth, "link", "links")} deep`, `${count(frame.queues, "injection queue", "injection queues")}`,
          `${share}% of all queued phits`);
      }
      if (frame.elsewhere) parts.push(`${count(frame.elsewhere, "buffer", "buffers")} outside of the drawing`);
      if (!members) parts.push("branches are not recorded: members = true");
      player.querySelector(".told").textContent = parts.join(" · ");
      slider.setAttribute("aria-valuetext", parts.slice(0, 2).join(", "));
    };
    const stop = () => {
      clearInterval(timer);
      timer = null;
      button.textContent = "Play";
    };
    const choose = () => {
      stop();
      const { frames, names, others } = network.runs[run.value];
      slider.max = frames.length - 1;
      slider.value = most(frames);
      fresh = true;
      slider.disabled = button.disabled = frames.length < 2;
      const key = player.querySelector(".key");
      key.replaceChildren();
      const entries = others ? [...names, "smaller trees"] : names;
      for (const [tree, name] of entries.entries()) {
        const entry = document.createElement("span");
        const swatch = document.createElement("span");
        swatch.className = "swatch";
        swatch.style.background = network.colours[tree];
        entry.append(swatch, name);
        key.append(entry);
      }
      show();
    };
    button.addEventListener("click", () => {
      if (timer !== null) return stop();
      // What is shown first is the moment at which the trees hold most.
      if (fresh || slider.value === slider.max) slider.value = 0;
      fresh = false;
      show();
      button.textContent = "Pause";
      timer = setInterval(() => {
        slider.value = Number(slider.value) + 1;
        show();
        if (slider.value === slider.max) stop();
      }, 200);
    });
    slider.addEventListener("input", () => { stop(); fresh = false; show(); });
    run.addEventListener("change", choose);
    const peaks = network.runs.map(({ frames }) => frames[most(frames)].held);
    run.value = peaks.indexOf(Math.max(...peaks));
    choose();
  }
})();
