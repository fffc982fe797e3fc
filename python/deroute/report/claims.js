"use strict";
// Rows are shown that have what is chosen; items without any, and papers without items, are not.
// The choice stands in the address, as in claims.html#paper=thesis&verdict=differs, which chooses it again.
const names = ["paper", "verdict", "scale"];
const words = document.getElementById("words");
const rows = [...document.querySelectorAll("tr[data-paper]")];

function show() {
  const wanted = names.map((name) => [name, document.getElementById(name).value]);
  const text = words.value.trim().toLowerCase();
  let shown = 0;
  for (const row of rows) {
    const fits = wanted.every(([name, value]) => !value || row.dataset[name] === value);
    row.hidden = !(fits && (!text || row.textContent.toLowerCase().includes(text)));
    shown += row.hidden ? 0 : 1;
  }
  for (const part of document.querySelectorAll(".item, main > section")) {
    part.hidden = !part.querySelector("tr[data-paper]:not([hidden])");
  }
  document.getElementById("count").textContent = `${shown} of ${rows.length} claims`;
}

const asked = new URLSearchParams(location.hash.slice(1));
for (const name of names) {
  const choice = document.getElementById(name);
  if ([...choice.options].some((option) => option.value === asked.get(name))) choice.value = asked.get(name);
  choice.addEventListener("change", () => {
    const chosen = names.map((each) => [each, document.getElementById(each).value]);
    const address = new URLSearchParams(chosen.filter(([, value]) => value)).toString();
    history.replaceState(null, "", `#${address}`);
    show();
  });
}
words.addEventListener("input", show);
show();
