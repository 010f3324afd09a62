// Wheel, pointer, buttons, keys and the page's address.

chart.addEventListener(
  "wheel",
  (event) => {
    const x = event.clientX - chart.getBoundingClientRect().left;
    if (x < gutter) return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return move((event.deltaX || event.deltaY) / width);
    zoom(Math.exp(event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0018)), drawnAt(x));
  },
  { passive: false },
);

const fingers = new Map();
let pressed = null;
chart.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  fingers.set(event.pointerId, event);
  pressed = { x: event.clientX, y: event.clientY, isDrag: fingers.size > 1 };
});
addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return pointAt(event);
  fingers.set(event.pointerId, event);
  if (fingers.size === 2) return pinch(before, event);
  if (!pressed.isDrag && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < 5) return;
  if (!pressed.isDrag) hover(null);
  pressed.isDrag = true;
  chart.classList.add("dragged");
  chart.scrollTop -= event.clientY - before.clientY;
  const by = ((before.clientX - event.clientX) / (width - gutter)) * (shown.to - shown.from);
  show(shown.from + by, shown.to + by);
});
const release = (event) => {
  if (!fingers.delete(event.pointerId) || fingers.size > 0) return;
  chart.classList.remove("dragged");
  if (!pressed.isDrag && event.type === "pointerup") click(event);
};
addEventListener("pointerup", release);
addEventListener("pointercancel", release);

function pinch(before, now) {
  const [other] = [...fingers.values()].filter((finger) => finger.pointerId !== now.pointerId);
  const apart = (finger) => Math.max(Math.abs(finger.clientX - other.clientX), 12);
  const middle = (now.clientX + other.clientX) / 2 - chart.getBoundingClientRect().left;
  zoom(apart(before) / apart(now), drawnAt(middle));
}

function place(event) {
  const box = chart.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

function pointAt(event) {
  hover(event.target.closest?.("#chart") ? under(...place(event)) : null, event.clientX, event.clientY);
}

function click(event) {
  const [x, y] = place(event);
  const inside = y - AXIS + chart.scrollTop;
  const section = lanes.sections.find((section) => inside >= section.y && inside < section.y + 18);
  if (section && y > AXIS) {
    if (!shown.folded.delete(section.name)) shown.folded.add(section.name);
    return filter(shown.key, shown.node);
  }
  pick(under(x, y));
}

const overview = $("overview");
const goInOverview = (event) => {
  const middle = ((event.clientX - overview.getBoundingClientRect().left) / overview.clientWidth) * END;
  const half = Math.min((shown.to - shown.from) / 2, END / 20);
  show(middle - half, middle + half);
};
overview.addEventListener("pointerdown", (event) => {
  overview.setPointerCapture(event.pointerId);
  goInOverview(event);
});
overview.addEventListener("pointermove", (event) => event.buttons === 1 && goInOverview(event));

const ACTIONS = {
  "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), 0: () => show(0, END),
  ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15),
  ArrowUp: () => (chart.scrollTop -= 60), ArrowDown: () => (chart.scrollTop += 60),
  n: () => step(1), p: () => step(-1),
  i: () => shown.picked?.inputs?.length && follow(shown.picked.inputs[0], true),
  v: () => told.wrongs.length > 0 && goToWrong((shown.wrong + 1) % told.wrongs.length),
  "/": () => $("input").focus(),
  Escape: () => {
    Object.assign(shown, { picked: null, wrong: -1 });
    letGoOfInput();
    hover(null);
    filter(null, null);
    tellDetails();
  },
};
addEventListener("keydown", (event) => {
  const isElsewhere = event.target.closest("input, select") && event.key !== "Escape";
  const action = ACTIONS[event.key];
  if (!action || isElsewhere || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  action();
});
for (const [id, key] of [["closer", "+"], ["wider", "-"], ["all", "0"], ["earlier", "p"], ["later", "n"]]) {
  $(id).addEventListener("click", ACTIONS[key]);
}
const chosen = (id) => ($(id).value === "" ? null : Number($(id).value));
for (const id of ["key", "node"]) $(id).addEventListener("change", () => filter(chosen("key"), chosen("node")));
$("pauses").addEventListener("change", () => shortenPauses($("pauses").checked));
$("tools").addEventListener("submit", (event) => event.preventDefault());
$("input").addEventListener("change", () => {
  const value = $("input").value.trim();
  if (value === "") ACTIONS.Escape();
  else follow(inputCalled(value), true);
});

function inputCalled(name) {
  const named = told.inputs?.indexOf(name.toUpperCase()) ?? -1;
  return named < 0 ? Number(name) : named;
}

function remember() {
  const parts = nth > 0 ? [`run=${nth}`] : [];
  const [from, to] = [shown.from, shown.to].map((drawn) => (momentOf(drawn) / 1e6).toFixed(3));
  parts.push(`t=${from}-${to}`);
  if (CAN_SHORTEN && !arePausesShort) parts.push("pauses=long");
  for (const name of ["key", "node", "input"]) if (shown[name] !== null) parts.push(`${name}=${shown[name]}`);
  clearTimeout(remember.later);
  remember.later = setTimeout(() => history.replaceState(null, "", `#${parts.join("&")}`), 300);
}

// Another run is another page.
addEventListener("hashchange", () => {
  if (runInAddress() !== nth) location.reload();
});

function recall() {
  const parts = new URLSearchParams(location.hash.slice(1));
  arePausesShort = CAN_SHORTEN && parts.get("pauses") !== "long";
  [$("pauses").checked, $("pausing").hidden] = [arePausesShort, !CAN_SHORTEN];
  fillBins();
  const number = (name) => (/^\d+$/.test(parts.get(name) ?? "") ? Number(parts.get(name)) : null);
  filter(number("key"), number("node"));
  if (number("input") !== null) follow(number("input"), true);
  const times = /^(-?[\d.]+)-([\d.]+)$/.exec(parts.get("t") ?? "");
  if (times) show(drawnOf(Number(times[1]) * 1e6), drawnOf(Number(times[2]) * 1e6));
  else if (told.wrongs.length > 0 && number("input") === null) goToWrong(0);
}
