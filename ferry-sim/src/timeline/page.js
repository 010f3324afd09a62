// The rest of the page, and its beginning.

const properties = (run) => [...new Set(run.wrongs.map((wrong) => wrong.property.split(" ")[0]))];

/** Which runs there are: those of a group in a line. */
function tellRuns() {
  if (runs.length < 2) return;
  const groups = new Map();
  runs.forEach((run, index) => {
    const group = run.group ?? "";
    if (!groups.has(group)) groups.set(group, []);
    const fails = properties(run);
    const mark = fails.length === 0 ? "held" : fails.join(", ");
    const link = make("a", { href: `#run=${index}`, title: run.verdict }, run.name, make("small", { textContent: mark, className: fails.length === 0 ? "held" : "failed" }));
    if (index === nth) link.setAttribute("aria-current", "page");
    groups.get(group).push(link);
  });
  for (const [group, links] of groups) {
    $("runs").append(make("div", {}, ...(group ? [make("span", { textContent: `On ${group}` })] : []), ...links));
  }
  $("runs").hidden = false;
}

function tellWrongs() {
  const count = told.wrongs.length;
  const some = told.lines.length.toLocaleString("en");
  const executors = told.events === null ? "" : `; ${told.events.toLocaleString("en")} events with the executor's own`;
  const whole = isInMoves ? `${told.moves} moves` : `${some} steps in ${inWords(told.end)}${executors}`;
  $("summary").textContent = count === 0 ? `${whole}; ${told.verdict}` : whole;
  if (count === 0) return;
  const items = told.wrongs.map((wrong, index) => {
    const link = make("a", { href: "#", textContent: wrong.words });
    link.addEventListener("click", (event) => {
      event.preventDefault();
      goToWrong(index);
      chart.focus({ preventScroll: true });
    });
    return make("li", {}, link, " ", make("small", { textContent: `${wrong.property}, at ${moment(wrong.at)}` }));
  });
  const title = told.verdict[0].toUpperCase() + told.verdict.slice(1);
  $("wrongs").append(make("h2", { textContent: title }), make("ol", {}, ...items));
  $("wrongs").hidden = false;
}

/** What is drawn in the legend, by what it is about. */
function signs() {
  const row = { height: 12 };
  const paint = (it) => (brush) => paintElement(brush, { from: 14, to: 14, label: "", ...it }, row, 0, (x) => x);
  const mark = (what, text, more = {}) => [text, paint({ what, ...more })];
  const span = (what, text, more = {}) => [text, paint({ what, from: 1, to: 29, ...more })];
  const dashed = (name) => (brush) => {
    brush.strokeStyle = colours[name];
    brush.setLineDash([2, 3]);
    brush.strokeRect(14.5, -1, 0, 14);
    brush.setLineDash([]);
  };
  return [
    ["How an attempt or a call ended", SIGNS.map(([end, text]) => [text, (brush) => bar(brush, 1, 1, 28, 10, LOOKS[end])])],
    ["Clients", [
      span("input", "an input, from its first attempt to its last"), span("attempt", "an attempt of it", { end: "durable", slots: 1, slot: 0 }),
      mark("unreachable", "no node there"), mark("gave-up", "its client gives up"),
    ]],
    ["Nodes", [
      span("life", "a life: from a start to a crash, or to the end"), mark("crash", "crash"), span("frozen", "frozen"), span("stalled", "held up by a step"),
      span("closing", "shuts down"), mark("clock-jump", "its clock jumps"), span("resume", "resumes a key"),
    ]],
    ["Calls of the store", [
      mark("read", "read", { end: "landed" }), mark("read", "read that failed", { end: "not-landed" }),
      span("commit", "commit; the notches are where it took effect", { end: "landed", effects: [15] }),
      span("project", "projection", { end: "landed", effects: [] }),
      ["took effect after its caller had given it up", (brush) => paintWrite(brush, { end: "in-doubt", effects: [24], to: 10 }, 0, 1, 10, 10, (x) => x)],
    ]],
    ["Store and view", [
      span("version", "a version of the record"), mark("deleted", "record deleted"), mark("turned-away", "a write is refused"),
      mark("lost", "answered before it was durable, and lost"), span("view", "what the view shows: how many entries"), span("debt", "record is pending"),
    ]],
    ["Upright lines", [[HEALED, dashed("good")], ["something is wrong, with its number above", dashed("wrong")]]],
  ];
}

function tellLegend() {
  $("signs").replaceChildren();
  for (const [title, its] of signs()) {
    const list = make("ul", {});
    for (const [text, draw] of its) {
      const canvas = make("canvas", {});
      list.append(make("li", {}, canvas, text));
      draw(fresh(canvas, 30, 12));
    }
    $("signs").append(make("div", {}, make("h3", { textContent: title }), list));
  }
}

function dress() {
  readColours();
  tellLegend();
  repaint();
}

for (const key of KEYS) $("key").append(make("option", { value: key, textContent: key }));
for (const node of NODES) $("node").append(make("option", { value: node, textContent: told.nodes ? nodeName(node) : node }));
if (told.inputs) $("input").placeholder = "letter";
chart.addEventListener("scroll", repaint);
new ResizeObserver(() => {
  filter(shown.key, shown.node);
  paint();
}).observe(chart);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
tellRuns();
tellWrongs();
readColours();
tellLegend();
width = chart.clientWidth;
tellDetails();
recall();
paint();
document.documentElement.dataset.ready = String(told.elements.length);
