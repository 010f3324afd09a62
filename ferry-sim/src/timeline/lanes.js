"use strict";
// Which lanes there are, and which row of which lane each element is in.

const $ = (id) => document.getElementById(id);
addEventListener("error", (event) => {
  document.documentElement.dataset.broken = event.message;
  $("summary").textContent = `The page's script failed: ${event.message}`;
});

const { runs } = JSON.parse($("told").textContent);
/** Which run is shown: its number is in the page's address. */
const runInAddress = () => Number(new URLSearchParams(location.hash.slice(1)).get("run") ?? 0);
const nth = Math.min(Math.max(Math.trunc(runInAddress()) || 0, 0), runs.length - 1);
const told = runs[nth];

const nodeName = (node) => told.nodes?.[node] ?? `node ${node}`;
const inputName = (input) => told.inputs?.[input] ?? String(input);

const CALLS = new Set(["read", "commit", "project", "show", "mark"]);
const NODE_MARKS = new Set(["life", "crash", "frozen", "stalled", "closing", "clock-jump"]);
const CLIENTS = new Set(["input", "attempt", "unreachable", "gave-up"]);
const STORE = new Set(["version", "deleted", "turned-away", "lost"]);
const VIEW = new Set(["view", "debt"]);

const distinct = (values) => [...new Set(values.filter((value) => value !== undefined))].sort((a, b) => a - b);
const KEYS = distinct(told.elements.map((it) => it.key));
const NODES = distinct(told.elements.map((it) => it.node));

/** Until when an element is to be seen: a write that landed late has a line to there. */
const lastOf = (it) => Math.max(it.to, ...(it.effects ?? []));
const BELOW = new Set(["input", "life"]);
/** What lasts longer lies below, and what others are drawn on. */
const byStart = (a, b) => a.from - b.from || BELOW.has(b.what) - BELOW.has(a.what) || b.to - a.to;

/** Puts spans into as few rows as there can be without overlap; `place(span, row)` is told each. */
function pack(spans, place, untilOf = (span) => span.to) {
  const ends = [];
  for (const span of [...spans].sort(byStart)) {
    let row = ends.findIndex((end) => end <= span.from);
    if (row < 0) row = ends.length;
    ends[row] = untilOf(span);
    place(span, row);
  }
  return ends.length;
}

class Row {
  constructor(label, height, elements) {
    Object.assign(this, { label, height, elements: elements.sort(byStart), y: 0 });
    let last = -1;
    this.lastUntil = this.elements.map((it) => (last = Math.max(last, lastOf(it))));
  }

  /** The elements that have something between two moments. */
  *between(from, to) {
    let low = 0;
    let high = this.elements.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.lastUntil[middle] < from) low = middle + 1;
      else high = middle;
    }
    for (let at = low; at < this.elements.length && this.elements[at].from <= to; at++) {
      if (lastOf(this.elements[at]) >= from) yield this.elements[at];
    }
  }
}

/** One line for each input, as few rows as possible for each key. */
function clientRows(elements) {
  const rows = [];
  for (const key of [...distinct(elements.map((it) => it.key)), undefined]) {
    const its = elements.filter((it) => it.key === key);
    const rowOf = new Map();
    const count = pack(its.filter((it) => it.what === "input"), (it, row) => rowOf.set(it.inputs[0], row));
    for (let row = 0; row < count; row++) {
      const label = row > 0 ? "" : key === undefined ? "no key" : `key ${key}`;
      rows.push(new Row(label, 11, its.filter((it) => rowOf.get(it.inputs[0]) === row)));
    }
  }
  // An input that was sent again before it was answered: its attempts share the height.
  const attempts = Map.groupBy(elements.filter((it) => it.what === "attempt"), (it) => it.inputs[0]);
  for (const its of attempts.values()) {
    const slots = pack(its, (it, slot) => (it.slot = slot));
    for (const it of its) it.slots = slots;
  }
  return rows;
}

function nodeRows(elements) {
  const rows = [];
  for (const node of distinct(elements.map((it) => it.node))) {
    const its = elements.filter((it) => it.node === node);
    rows.push(new Row(nodeName(node), 15, its.filter((it) => NODE_MARKS.has(it.what))));
    const calls = its.filter((it) => !NODE_MARKS.has(it.what));
    for (const key of distinct(calls.map((it) => it.key))) {
      const rowOf = new Map();
      const ofKey = calls.filter((it) => it.key === key);
      const count = pack(ofKey.filter((it) => it.what !== "resume" && it.what !== "read"), (it, row) => rowOf.set(it, row), lastOf);
      for (let row = 0; row < Math.max(count, 1); row++) {
        rows.push(new Row(row === 0 ? `\u2003key ${key}` : "", 11, ofKey.filter((it) => (rowOf.get(it) ?? 0) === row)));
      }
    }
  }
  return rows;
}

const keyRows = (elements, height) =>
  distinct(elements.map((it) => it.key)).map((key) => new Row(`key ${key}`, height, elements.filter((it) => it.key === key)));

const SECTIONS = [
  ["Clients", CLIENTS, clientRows],
  ["Nodes", new Set([...CALLS, ...NODE_MARKS, "resume"]), nodeRows],
  ["Store", STORE, (elements) => keyRows(elements, 15)],
  ["View", VIEW, (elements) => keyRows(elements, 17)],
];

/** All rows that a filter leaves, from above to below; higher ones where there is room. */
function layOut({ key, node }, folded, room) {
  const isKept = (it) =>
    (key === null || it.key === undefined || it.key === key) && (node === null || it.node === undefined || it.node === node);
  const sections = [];
  for (const [name, kinds, rowsOf] of SECTIONS) {
    // A filter by node leaves whole inputs, so that their attempts stay on their lines.
    const elements = told.elements.filter((it) => kinds.has(it.what) && isKept(it));
    const isFolded = folded.has(name);
    if (elements.length > 0) sections.push({ name, isFolded, rows: isFolded ? [] : rowsOf(elements) });
  }
  const least = stack(sections, 1);
  const its = sections.flatMap((section) => section.rows).reduce((sum, row) => sum + row.height, 0);
  // The lanes of one key are worth some scrolling.
  const scale = Math.min(Math.max((room - least + its) / Math.max(its, 1), key === null ? 1 : 1.5), 2.2);
  const height = stack(sections, scale);
  const rows = sections.flatMap((section) => section.rows);
  const rowOf = new Map(rows.flatMap((row) => row.elements.map((it) => [it, row])));
  return { sections, rows, rowOf, height };
}

/** Gives each row its place, and tells how high all are together. */
function stack(sections, scale) {
  let y = 0;
  for (const section of sections) {
    section.y = y;
    y += 20;
    for (const row of section.rows) {
      if (row.label && !row.label.startsWith("\u2003")) y += 3;
      row.y = y;
      row.height = Math.round(row.height * scale);
      y += row.height;
    }
    y += 6;
  }
  return y + 12;
}
