// The rest of the page, and its beginning.

function tellWrongs() {
  const count = told.wrongs.length;
  const what = `${told.lines.length.toLocaleString("en")} events in ${nanosInWords(told.end)}`;
  $("summary").textContent = count === 0 ? `${what}; all held` : what;
  if (count === 0) return;
  const items = told.wrongs.map((wrong, index) => {
    const link = make("a", { href: "#", textContent: wrong.words });
    link.addEventListener("click", (event) => {
      event.preventDefault();
      goToWrong(index);
      chart.focus({ preventScroll: true });
    });
    return make("li", {}, link, " ", make("small", { textContent: `${wrong.property}, at ${millis(wrong.at)} ms` }));
  });
  const title = count === 1 ? "One thing is wrong" : `${count} things are wrong`;
  $("wrongs").append(make("h2", { textContent: title }), make("ol", {}, ...items));
  $("wrongs").hidden = false;
}

function tellLegend() {
  const signs = SIGNS.map(([end, text]) => [text, (brush) => bar(brush, 1, 1, 27, 10, LOOKS[end])]);
  const row = { height: 12 };
  const mark = (what, text) => [text, (brush) => paintElement(brush, { what, from: 14, to: 14, label: "" }, row, 0, (x) => x)];
  const span = (what, text) => [text, (brush) => paintElement(brush, { what, from: 1, to: 28, label: "" }, row, 0, (x) => x)];
  signs.push(
    ["landed late", (brush) => paintWrite(brush, { end: "in-doubt", effects: [24], to: 10 }, 0, 1, 10, 10, (x) => x)],
    mark("crash", "crash, or delete"), span("frozen", "frozen"), span("stalled", "held up by a step"), mark("clock-jump", "clock jumps"),
    mark("turned-away", "refused by the store"), span("debt", "record is pending"), mark("unreachable", "no node there"), mark("gave-up", "client gives up"),
  );
  $("signs").replaceChildren();
  for (const [text, draw] of signs) {
    const canvas = make("canvas", {});
    $("signs").append(make("li", {}, canvas, text));
    draw(fresh(canvas, 30, 12));
  }
}

function dress() {
  readColours();
  tellLegend();
  repaint();
}

for (const key of KEYS) $("key").append(make("option", { value: key, textContent: key }));
for (const node of NODES) $("node").append(make("option", { value: node, textContent: node }));
chart.addEventListener("scroll", repaint);
new ResizeObserver(paint).observe(chart);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
tellWrongs();
readColours();
tellLegend();
width = chart.clientWidth;
tellDetails();
recall();
paint();
document.documentElement.dataset.ready = String(told.elements.length);
