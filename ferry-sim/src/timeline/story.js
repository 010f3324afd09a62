// Where to look, what was chosen, and what is told of it.

/** From where to where on the axis, as it is drawn. */
function show(from, to) {
  const span = Math.min(Math.max(to - from, SPAN_MIN), END * 1.02);
  const middle = (from + to) / 2;
  const first = Math.min(Math.max(middle - span / 2, -END * 0.01), END * 1.01 - span);
  [shown.from, shown.to] = [first, first + span];
  repaint();
}

function zoom(factor, around = (shown.from + shown.to) / 2) {
  const span = Math.min(Math.max((shown.to - shown.from) * factor, SPAN_MIN), END * 1.02);
  const share = (around - shown.from) / (shown.to - shown.from);
  show(around - span * share, around + span * (1 - share));
}

const move = (share) => {
  const by = (shown.to - shown.from) * share;
  show(shown.from + by, shown.to + by);
};

/** Moves there, with some room around. */
function goTo(...span) {
  const [from, to] = span.map(drawnOf);
  const room = Math.max((to - from) * 0.25, isInMoves ? MOVE : arePausesShort ? END / 30 : 2e7);
  show(from - room, to + room);
}

/** Draws long pauses short, or as long as they are, and shows the same time. */
function shortenPauses(isShort) {
  const [from, to] = [momentOf(shown.from), momentOf(shown.to)];
  arePausesShort = isShort;
  fillBins();
  show(drawnOf(from), drawnOf(to));
}

function reveal(it) {
  const row = lanes.rowOf.get(it);
  if (!row) return;
  const y = row.y + AXIS - chart.scrollTop;
  if (y < AXIS || y + row.height > chart.clientHeight) chart.scrollTop = row.y - chart.clientHeight / 3;
  if (xOf(it.to) < gutter + 4 || xOf(it.from) > width - 4) {
    const half = (shown.to - shown.from) / 2;
    show(drawnOf(it.from) - half, drawnOf(it.from) + half);
  }
}

function relate() {
  related = shown.input === null ? null : new Set(told.elements.filter((it) => (it.inputs ?? []).includes(shown.input)));
}

function pick(it) {
  shown.picked = it;
  if (it && shown.input !== null && !(it.inputs ?? []).includes(shown.input)) letGoOfInput();
  tellDetails();
  repaint();
}

function letGoOfInput() {
  shown.input = null;
  $("input").value = "";
  relate();
}

/** The story of one input: all that is about it, and nothing else in full colour. */
function follow(number, isGoing) {
  const its = told.elements.filter((it) => (it.inputs ?? []).includes(number));
  $("missing").textContent = its.length > 0 ? "" : `There is no input ${inputName(number)}.`;
  if (its.length === 0) return;
  Object.assign(shown, { input: number, picked: null });
  filter(its.find((it) => it.key !== undefined)?.key ?? null, shown.node);
  $("input").value = inputName(number);
  relate();
  const whole = its.filter((it) => CLIENTS.has(it.what) || CALLS.has(it.what));
  if (isGoing) goTo(Math.min(...whole.map((it) => it.from)), Math.max(...whole.map(lastOf)));
  const first = its.find((it) => it.what === "input");
  if (first) reveal(first);
  tellDetails();
  repaint();
}

function goToWrong(index) {
  const wrong = told.wrongs[index];
  shown.wrong = index;
  letGoOfInput();
  filter(wrong.key, wrong.node);
  if (wrong.inputs.length > 0) follow(wrong.inputs[0], false);
  shown.picked = null;
  goTo(wrong.from, wrong.to);
  const its = STEPS.filter((it) => it.key === wrong.key && it.from <= wrong.at && lastOf(it) >= wrong.at);
  const best = its.find((it) => (it.inputs ?? []).some((one) => wrong.inputs.includes(one))) ?? its.find((it) => VIEW.has(it.what));
  if (best) reveal(best);
  tellDetails();
  repaint();
}

function step(by) {
  const isKept = (it) => lanes.rowOf.has(it) && (related === null || related.has(it));
  let at = STEPS.indexOf(shown.picked);
  if (at < 0) at = STEPS.findIndex((it) => drawnOf(it.from) >= shown.from) - (by > 0 ? 1 : 0);
  for (at += by; at >= 0 && at < STEPS.length; at += by) {
    if (isKept(STEPS[at])) {
      pick(STEPS[at]);
      return reveal(STEPS[at]);
    }
  }
}

function filter(key, node) {
  Object.assign(shown, { key, node });
  $("key").value = key ?? "";
  $("node").value = node ?? "";
  lanes = layOut(shown, shown.folded, chart.clientHeight - AXIS);
  chart.scrollTop = Math.min(chart.scrollTop, lanes.height);
  repaint();
}

const linesOf = (indices) => [...new Set(indices)].sort((a, b) => a - b);

/** The steps with these places; those at the moment that it is about stand out. */
function lineList(indices, about = null) {
  const items = linesOf(indices).map((index) => {
    const [at, text] = told.lines[index];
    const link = make("a", { href: "#", textContent: moment(at), title: "Go there" });
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const half = Math.min((shown.to - shown.from) / 2, arePausesShort ? END : 1e9);
      show(drawnOf(at) - half, drawnOf(at) + half);
    });
    return make("li", { className: at === about ? "about" : "" }, link, make("span", { textContent: text }));
  });
  return make("ol", {}, ...items);
}

function inputButton(number) {
  const button = make("button", { type: "button", textContent: `Story of input ${inputName(number)}` });
  button.addEventListener("click", () => follow(number, true));
  return button;
}

function when(it) {
  const last = lastOf(it);
  const span = last > it.from ? `, for ${inWords(last - it.from)}` : "";
  return make("p", { textContent: `From ${moment(it.from)} on${span}` });
}

/** What is beside the lanes: what was picked, or an input's story, or what is wrong. */
function tellDetails() {
  const panel = $("details");
  panel.replaceChildren();
  const { picked, input, wrong } = shown;
  const violation = told.wrongs[wrong];
  if (picked) {
    panel.append(make("h2", { textContent: picked.title }), when(picked));
    for (const number of picked.inputs ?? []) panel.append(inputButton(number), " ");
    panel.append(lineList(picked.lines));
  } else if (input !== null) {
    if (violation?.inputs.includes(input)) panel.append(make("p", { textContent: `${wrong + 1}. ${violation.property}: ${violation.words}` }));
    panel.append(make("h2", { textContent: `All about input ${inputName(input)}` }));
    for (const number of violation?.inputs ?? []) if (number !== input) panel.append(inputButton(number), " ");
    panel.append(lineList([...related].flatMap((it) => it.lines), violation?.at));
  } else if (violation) {
    panel.append(make("h2", { textContent: violation.property }), make("p", { textContent: violation.words }));
    const near = IS_SHORT ? [] : told.elements.filter((it) => it.key === violation.key && it.from <= violation.to + 1e7 && lastOf(it) >= violation.from - 1e7);
    const lines = near.flatMap((it) => it.lines).filter((index) => Math.abs(told.lines[index][0] - violation.at) < 1e9);
    panel.append(lineList(IS_SHORT ? told.lines.keys() : lines, violation.at));
  } else {
    panel.append(make("p", { textContent: "Point at something to see what it is; click it, or tap it, to keep it here." }));
    if (IS_SHORT) panel.append(make("h2", { textContent: "All that happens" }), lineList(told.lines.keys()));
  }
  const about = panel.querySelector(".about");
  const below = about ? about.offsetTop + about.offsetHeight - panel.offsetTop : 0;
  panel.scrollTop = below > panel.clientHeight ? below - panel.clientHeight / 2 : 0;
}

/** What is under the pointer. */
function under(x, y) {
  const inside = y - AXIS + chart.scrollTop;
  const row = lanes.rows.find((row) => inside >= row.y - 1 && inside < row.y + row.height + 1);
  if (!row || x < gutter || y < AXIS) return null;
  const [from, to] = [atOf(x - 5), atOf(x + 5)];
  let best = null;
  const cost = (it) => {
    const away = Math.max(xOf(it.from) - x, x - xOf(it.to), 0);
    const background = it.what === "life" || it.what === "input" ? 1e6 : 0;
    const share = (inside - row.y) / row.height;
    const slot = it.slots > 1 && Math.floor(share * it.slots) !== it.slot ? 500 : 0;
    const strip = it.what === "debt" && share < 0.7 ? 2e5 : 0;
    return away * 100 + Math.min(xOf(it.to) - xOf(it.from), 5e4) / 100 + background + slot + strip;
  };
  for (const it of row.between(from, to)) if (best === null || cost(it) < cost(best)) best = it;
  return best;
}

const TIP_LINES = 6;
function hover(it, x, y) {
  if (it !== shown.hovered) {
    shown.hovered = it;
    repaint();
  }
  const tip = $("tip");
  tip.hidden = it === null;
  if (it === null) return;
  const lines = linesOf(it.lines);
  const some = lines.slice(0, TIP_LINES).map((index) => make("div", { textContent: `${moment(told.lines[index][0])}  ${told.lines[index][1]}` }));
  if (lines.length > TIP_LINES) some.push(make("div", { textContent: `and ${lines.length - TIP_LINES} more` }));
  tip.replaceChildren(make("b", { textContent: it.title }), ...some);
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 6))}px`;
  tip.style.top = `${y + 18 + box.height > innerHeight ? Math.max(4, y - box.height - 12) : y + 18}px`;
}
