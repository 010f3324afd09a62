// The axis of the lanes: round moments, or those at which something happens where pauses are drawn short.

/** Below its words, the axis has the numbers of what is wrong. */
const WORDS_HIGH = 24;
const AXIS = told.wrongs.length > 0 ? WORDS_HIGH + 16 : WORDS_HIGH;

/** Round steps of time, few enough for their words. */
function stepFor(span, places) {
  const least = span / places;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}

function roundTicks() {
  const least = stepFor(shown.to - shown.from, Math.max((width - gutter) / 90, 2));
  const step = isInMoves ? Math.max(least, MOVE) : least;
  const [unit, long] = isInMoves ? ["", MOVE] : shown.to >= 1e9 ? [" s", 1e9] : [" ms", 1e6];
  const digits = Math.max(0, Math.ceil(Math.log10(long) - Math.log10(step) - 1e-9));
  const ticks = [];
  for (let nth = Math.ceil(Math.max(shown.from, 0) / step); nth * step <= shown.to; nth++) {
    const x = xOf(nth * step);
    ticks.push({ x, from: x + 4, text: `${((nth * step) / long).toFixed(digits)}${unit}` });
  }
  return ticks;
}

/** Moments that end a pause first, then all others that there is room for. */
function momentTicks(brush) {
  const isAfterPause = new Set([0, ...LONG_PAUSES.map(({ to }) => to)]);
  const isShown = (at) => xOf(at) >= gutter && xOf(at) <= width;
  const [first, rest] = [MOMENTS.filter((at) => isAfterPause.has(at)), MOMENTS.filter((at) => !isAfterPause.has(at))];
  const ticks = [];
  const add = (tick) => hasRoom(ticks, tick) && ticks.push(tick);
  for (const at of [...first, ...rest].filter(isShown)) {
    const x = xOf(at);
    // Cut, as moments are everywhere.
    const text = inWords(Math.floor(at / 1e3) * 1e3, at < 1e9 ? 3 : 6);
    const wide = brush.measureText(text).width;
    // On the other side of its line where the screen ends.
    add({ x, wide, text, from: x + 4 + wide < width ? x + 4 : x - 4 - wide });
  }
  for (const pause of LONG_PAUSES) {
    const text = `${inWords(pause.to - pause.from)} later`;
    const wide = brush.measureText(text).width;
    const from = (xOf(pause.from) + xOf(pause.to) - wide) / 2;
    if (from > Math.max(xOf(pause.from), gutter) + 4) add({ wide, text, from });
  }
  return ticks;
}

const hasRoom = (ticks, { from, wide }) => ticks.every((other) => from + wide + 10 < other.from || other.from + other.wide + 10 < from);

const ticksOnScreen = (brush) => (arePausesShort ? momentTicks(brush) : roundTicks());

function paintGrid(brush, height) {
  if (arePausesShort) {
    brush.fillStyle = colours.band;
    for (const { from, to } of LONG_PAUSES) {
      const x = Math.max(xOf(from), gutter);
      brush.fillRect(x, AXIS, Math.max(xOf(to) - x, 0), height);
    }
  }
  brush.fillStyle = colours.line;
  brush.globalAlpha = 0.5;
  for (const { x } of ticksOnScreen(brush)) if (x !== undefined) brush.fillRect(Math.round(x), AXIS, 1, height);
  brush.globalAlpha = 1;
}

function paintAxis(brush) {
  brush.fillStyle = colours.panel;
  brush.fillRect(0, 0, width, AXIS);
  for (const { x, from, text } of ticksOnScreen(brush)) {
    if (x !== undefined) {
      brush.fillStyle = colours.line;
      brush.fillRect(Math.round(x), 0, 1, AXIS);
    }
    brush.fillStyle = colours.quiet;
    brush.font = x === undefined ? `italic ${FONT}` : FONT;
    if (from + brush.measureText(text).width < width) brush.fillText(text, from, WORDS_HIGH / 2);
  }
  brush.font = FONT;
  brush.fillStyle = colours.panel;
  brush.fillRect(0, 0, gutter, AXIS);
  brush.fillStyle = colours.ink;
  brush.fillText(inWords(momentOf(shown.to) - momentOf(shown.from)), 6, WORDS_HIGH / 2);
  paintFlags(brush);
}

function paintFlags(brush) {
  const flagged = new Set();
  told.wrongs.forEach((wrong, index) => {
    const x = xOf(wrong.at);
    const place = Math.round(x / 16);
    if (x < gutter || x > width || flagged.has(place)) return;
    flagged.add(place);
    const text = String(index + 1);
    const wide = brush.measureText(text).width + 8;
    const from = x - wide < gutter ? x : x - wide;
    brush.fillStyle = colours.wrong;
    brush.fillRect(from, WORDS_HIGH - 1, wide, AXIS - WORDS_HIGH);
    brush.fillStyle = colours["on-fill"];
    brush.fillText(text, from + 4, (WORDS_HIGH + AXIS) / 2 - 1);
  });
}
