// The screen: what is shown, where on it, and how it is painted.

const chart = $("chart");
const SPAN_MIN = isInMoves ? 2 * MOVE : 2e4;
const STEPS = told.elements.filter((it) => it.what !== "input" && it.what !== "life").sort(byStart);

// From where to where on the axis, as it is drawn.
const shown = { from: 0, to: END, key: null, node: null, folded: new Set(), input: null, picked: null, hovered: null, wrong: -1 };
let lanes = layOut(shown, shown.folded, 0);
let gutter = 84;
let width = 0;
let related = null;

const xOf = (at) => gutter + ((drawnOf(at) - shown.from) / (shown.to - shown.from)) * (width - gutter);
const drawnAt = (x) => shown.from + ((x - gutter) / (width - gutter)) * (shown.to - shown.from);
const atOf = (x) => momentOf(drawnAt(x));

/** An element of the page with its attributes and what is in it; words are never taken for markup. */
function make(name, attributes, ...inside) {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...inside);
  return made;
}

const HEALED = "no new faults from here on";

let isDue = false;
function repaint() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    paint();
  });
}

function paint() {
  width = chart.clientWidth;
  gutter = width < 560 ? 58 : 84;
  const height = chart.clientHeight;
  $("length").style.height = `${Math.max(lanes.height + AXIS - height, 0)}px`;
  const brush = fresh($("lanes"), width, height);
  brush.gutter = gutter;
  const top = AXIS - chart.scrollTop;
  paintGrid(brush, height);
  for (const section of lanes.sections) paintSection(brush, section, top, height);
  if (told.healed !== null) upright(brush, told.healed, height, colours.good);
  told.wrongs.forEach((wrong) => upright(brush, wrong.at, height, colours.wrong));
  for (const it of [shown.picked, shown.hovered]) if (it) outline(brush, it, top);
  paintNames(brush, top, height);
  if (told.healed !== null) tellHealed(brush);
  paintAxis(brush);
  paintOverview();
  remember();
}

function paintSection(brush, section, top, height) {
  brush.save();
  brush.beginPath();
  brush.rect(gutter, AXIS, width - gutter, height);
  brush.clip();
  for (const row of section.rows) {
    const y = row.y + top;
    if (y + row.height < AXIS || y > height) continue;
    paintRow(brush, row, y);
  }
  brush.restore();
}

function paintRow(brush, row, y) {
  if (row.label) {
    brush.fillStyle = colours.line;
    brush.fillRect(gutter, Math.round(y) - 1.5, width - gutter, 0.5);
  }
  // What would be painted on the same pixel as its like is left out.
  const painted = new Map();
  let isOdd = false;
  const slack = ((shown.to - shown.from) / (width - gutter)) * 8;
  for (const it of row.between(momentOf(shown.from - slack), momentOf(shown.to + slack))) {
    if (it.what === "version" || it.what === "view") isOdd = Number(it.label.replace("v", "")) % 2 === 1;
    const x = xOf(it.from);
    const style = `${it.what}${it.end}${it.slot}`;
    const end = xOf(lastOf(it));
    const isRelated = related === null || related.has(it) || !(CLIENTS.has(it.what) || CALLS.has(it.what));
    if (painted.get(style) > end - 0.7 && !(related && isRelated)) continue;
    painted.set(style, Math.max(end, x + 1));
    brush.globalAlpha = isRelated ? 1 : 0.3;
    paintElement(brush, it, row, y, xOf, isOdd);
  }
  brush.globalAlpha = 1;
}

function upright(brush, at, height, colour) {
  const x = Math.round(xOf(at)) + 0.5;
  if (x < gutter || x > width) return;
  brush.strokeStyle = colour;
  brush.lineWidth = 1;
  brush.setLineDash([2, 3]);
  brush.beginPath();
  brush.moveTo(x, AXIS);
  brush.lineTo(x, height);
  brush.stroke();
  brush.setLineDash([]);
}

/** Beside its line, above the lanes. */
function tellHealed(brush) {
  const x = Math.round(xOf(told.healed)) + 0.5;
  const wide = brush.measureText(HEALED).width;
  const from = x + 4 + wide < width ? x + 4 : x - 4 - wide;
  if (x < gutter || x > width || from < gutter) return;
  brush.fillStyle = colours.good;
  brush.fillText(HEALED, from, AXIS + 9);
}

function outline(brush, it, top) {
  const row = lanes.rowOf.get(it);
  const [x, end] = [Math.max(xOf(it.from), gutter), xOf(lastOf(it))];
  if (!row || end < gutter || x > width) return;
  brush.strokeStyle = colours.focus;
  brush.lineWidth = 2;
  const left = Math.max(x - 4, gutter + 1);
  brush.strokeRect(left, row.y + top - 1, Math.max(Math.min(end, width) + 4 - left, 6), row.height + 2);
}

function paintNames(brush, top, height) {
  brush.fillStyle = colours.ground;
  brush.fillRect(0, 0, gutter, height);
  for (const section of lanes.sections) {
    const y = section.y + top;
    brush.fillStyle = colours.band;
    brush.fillRect(0, y, width, 18);
    brush.fillStyle = colours.ink;
    brush.font = `bold ${FONT}`;
    brush.fillText(`${section.isFolded ? "▸" : "▾"} ${section.name}`, 6, y + 9.5);
    brush.font = FONT;
    brush.fillStyle = colours.quiet;
    for (const row of section.rows) {
      if (row.label) brush.fillText(row.label, 8, row.y + top + row.height / 2 + 0.5);
    }
  }
  brush.fillStyle = colours.line;
  brush.fillRect(gutter - 1, AXIS, 1, height);
}

// How much happens when, over the whole run.
const BINS = 600;
let bins = [];
function fillBins() {
  bins = new Array(BINS).fill(0);
  for (const [at] of told.lines) bins[Math.min(BINS - 1, Math.floor((drawnOf(at) / END) * BINS))] += 1;
}

function paintOverview() {
  const canvas = $("overview");
  const brush = fresh(canvas, canvas.parentElement.clientWidth, 38);
  const wide = canvas.clientWidth;
  const xIn = (at) => (drawnOf(at) / END) * wide;
  const binMax = Math.log(1 + Math.max(...bins));
  brush.fillStyle = colours.none;
  bins.forEach((count, bin) => {
    const h = (Math.log(1 + count) / binMax) * 28;
    brush.fillRect((bin / BINS) * wide, 36 - h, wide / BINS + 0.3, h);
  });
  for (const it of told.elements) {
    if (it.what === "crash") cross(brush, xIn(it.from), 5, 2.5, colours.crash);
  }
  if (told.healed !== null) {
    brush.fillStyle = colours.good;
    brush.fillRect(xIn(told.healed), 0, 1.5, 38);
  }
  brush.fillStyle = colours.wrong;
  for (const wrong of told.wrongs) brush.fillRect(xIn(wrong.at) - 1, 0, 2.5, 38);
  const [x, w] = [(shown.from / END) * wide, ((shown.to - shown.from) / END) * wide];
  brush.globalAlpha = 0.16;
  brush.fillStyle = colours.focus;
  brush.fillRect(x, 0, Math.max(w, 3), 38);
  brush.globalAlpha = 1;
  brush.strokeStyle = colours.focus;
  brush.lineWidth = 2;
  brush.strokeRect(x, 1, Math.max(w, 3), 36);
}
