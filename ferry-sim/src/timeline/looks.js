// What things look like.

const LOOKS = {
  landed: ["solid", "good"], durable: ["solid", "good"], projected: ["solid", "good"],
  "in-part": ["half", "part"], committed: ["half", "part"],
  refused: ["cross", "refused"], rejected: ["cross", "refused"],
  "not-landed": ["hollow", "none"], "not-committed": ["hollow", "none"],
  "in-doubt": ["stripes", "doubt"],
  untold: ["open", "open"], deserted: ["open", "open"], unanswered: ["open", "open"],
};
const SIGNS = [
  ["landed", "landed, durable, projected"],
  ["committed", "committed and its view late; landed in part"],
  ["refused", "refused, rejected"],
  ["not-landed", "not landed, not committed"],
  ["in-doubt", "in doubt"],
  ["untold", "nobody was there to hear"],
];
const FONT = "11px system-ui, sans-serif";

let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const names = "ground panel ink quiet line band good part refused none doubt open wrong debt life frozen held crash version version-b view view-b on-fill focus";
  colours = Object.fromEntries(names.split(" ").map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** A canvas of its element's size, in the screen's own pixels. */
function fresh(canvas, width, height) {
  const scale = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const brush = canvas.getContext("2d");
  brush.setTransform(scale, 0, 0, scale, 0, 0);
  brush.clearRect(0, 0, width, height);
  brush.font = FONT;
  brush.textBaseline = "middle";
  return brush;
}

function hatch(brush, x, y, w, h, colour, step = 5) {
  brush.save();
  brush.beginPath();
  brush.rect(x, y, w, h);
  brush.clip();
  brush.strokeStyle = colour;
  brush.lineWidth = 1.5;
  brush.beginPath();
  // Only what is on the screen, and fixed to it.
  const from = Math.max(x, -20) - h;
  for (let at = from - (from % step); at < Math.min(x + w, 8000); at += step) {
    brush.moveTo(at, y + h);
    brush.lineTo(at + h, y);
  }
  brush.stroke();
  brush.restore();
}

function cross(brush, x, y, reach, colour, width = 1.6) {
  brush.strokeStyle = colour;
  brush.lineWidth = width;
  brush.beginPath();
  brush.moveTo(x - reach, y - reach);
  brush.lineTo(x + reach, y + reach);
  brush.moveTo(x - reach, y + reach);
  brush.lineTo(x + reach, y - reach);
  brush.stroke();
}

/** A bar whose shape alone tells how it ended, however narrow it is. */
function bar(brush, x, y, w, h, [shape, name]) {
  const colour = colours[name];
  brush.fillStyle = colour;
  brush.strokeStyle = colour;
  brush.lineWidth = 1;
  const isNarrow = w < 7;
  const frame = () => brush.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
  const faint = () => {
    brush.globalAlpha *= 0.22;
    brush.fillRect(x, y, w, h);
    brush.globalAlpha /= 0.22;
  };
  if (shape === "solid") brush.fillRect(x, y, w, h);
  else if (shape === "half") {
    brush.fillRect(x, y + h / 2, w, h / 2);
    if (!isNarrow) frame();
  } else if (shape === "cross") {
    if (isNarrow) return brush.fillRect(x, y, w, h / 2);
    faint();
    frame();
    cross(brush, x + w - h / 2, y + h / 2, h / 2 - 1.5, colour);
  } else if (shape === "hollow") {
    if (isNarrow) return brush.fillRect(x, y + h - 2, w, 2);
    frame();
  } else if (shape === "stripes") {
    if (isNarrow) {
      brush.fillRect(x, y, w, h / 3);
      return brush.fillRect(x, y + h - h / 3, w, h / 3);
    }
    faint();
    hatch(brush, x, y, w, h, colour, 4);
    frame();
  } else {
    faint();
    brush.fillRect(x, y, 1.5, h);
  }
}

/** Words in a bar, where there is room for them. */
function words(brush, text, x, y, w, colour) {
  const from = Math.max(x, brush.gutter ?? 0) + 3;
  const room = x + w - from - 2;
  if (!text || room < 10 || brush.measureText(text).width > room) return;
  brush.fillStyle = colour;
  brush.fillText(text, from, y);
}

/** Draws one element; gives the place that it takes. */
function paintElement(brush, it, row, y, xOf, isOdd) {
  const x = xOf(it.from);
  const w = Math.max(xOf(it.to) - x, 2);
  const middle = y + row.height / 2;
  switch (it.what) {
    case "input":
      brush.fillStyle = colours.line;
      return brush.fillRect(x, middle - 0.5, w, 1);
    case "attempt": {
      const h = (row.height - 2) / Math.min(it.slots, 3);
      const top = y + 1 + Math.min(it.slot, 2) * h;
      bar(brush, x, top, w, it.slots > 1 ? h - 0.5 : h, LOOKS[it.end]);
      if (it.slots === 1 && LOOKS[it.end][0] === "solid") inBar(brush, it, x, middle, w, h);
      return;
    }
    case "unreachable":
      brush.fillStyle = colours.none;
      return brush.fillRect(x - 1, middle - 1.5, 2, 3);
    case "gave-up":
      brush.fillStyle = colours.ink;
      return brush.fillRect(x - 1, y + 1, 2.5, row.height - 2);
    case "read":
      brush.beginPath();
      // A write that follows it begins at the same moment.
      brush.arc(x - 3, middle, 2, 0, 7);
      brush.fillStyle = brush.strokeStyle = colours.none;
      brush.lineWidth = 1;
      return it.end === "landed" ? brush.fill() : brush.stroke();
    case "commit":
      return paintWrite(brush, it, x, y + 1, w, row.height - 2, xOf);
    case "project":
    case "show":
    case "mark":
      return paintWrite(brush, it, x, y + 3, w, row.height - 6, xOf);
    case "resume":
      brush.fillStyle = colours.quiet;
      return brush.fillRect(x, y + row.height - 1, w, 1);
    case "version":
    case "view": {
      brush.fillStyle = colours[isOdd ? `${it.what}-b` : it.what];
      const h = it.what === "view" ? row.height - 6 : row.height - 2;
      brush.fillRect(x, y + 1, w, h);
      brush.fillStyle = colours.quiet;
      brush.fillRect(x, y + 1, 1, h);
      return words(brush, it.label, x, y + 1 + h / 2, w, colours.ink);
    }
    case "debt":
      brush.fillStyle = colours.debt;
      return brush.fillRect(x, y + row.height - 4, w, 4);
    default:
      return paintOfNode(brush, it, row, x, y, w);
  }
}

function inBar(brush, it, x, middle, w, h) {
  brush.font = `${Math.min(11, Math.round(h + 1))}px system-ui, sans-serif`;
  words(brush, it.label, x, middle + 0.5, w, colours["on-fill"]);
  brush.font = FONT;
}

function paintWrite(brush, it, x, y, w, h, xOf) {
  const look = LOOKS[it.end];
  bar(brush, x, y, w, h, look);
  if (h > 6 && look[0] === "solid") inBar(brush, it, x, y + h / 2, w, h);
  for (const effect of it.effects ?? []) {
    const at = xOf(effect);
    if (effect <= it.to) {
      if (w < 7) continue;
      brush.fillStyle = look[0] === "solid" ? colours["on-fill"] : colours.good;
      // Two notches, which leave the words in between alone.
      const notch = Math.min(h / 4, 3);
      brush.fillRect(at - 0.75, y, 1.5, notch);
      brush.fillRect(at - 0.75, y + h - notch, 1.5, notch);
      continue;
    }
    brush.strokeStyle = colours.good;
    brush.lineWidth = 1.5;
    brush.setLineDash([4, 3]);
    brush.beginPath();
    brush.moveTo(Math.max(x + w, -10), y + h / 2);
    brush.lineTo(Math.min(at, 9000), y + h / 2);
    brush.stroke();
    brush.setLineDash([]);
    diamond(brush, at, y + h / 2, 4, colours.good);
  }
}

function diamond(brush, x, y, reach, colour) {
  brush.fillStyle = colour;
  brush.beginPath();
  brush.moveTo(x - reach, y);
  brush.lineTo(x, y - reach);
  brush.lineTo(x + reach, y);
  brush.lineTo(x, y + reach);
  brush.fill();
}

/** What comes over nodes and records. */
function paintOfNode(brush, it, row, x, y, w) {
  const h = row.height - 2;
  const middle = y + row.height / 2;
  const plate = (name, isHatched) => {
    if (isHatched) hatch(brush, x, y + 1, w, h, colours[name]);
    brush.strokeStyle = colours[name];
    brush.lineWidth = 1;
    brush.strokeRect(x + 0.5, y + 1.5, Math.max(w - 1, 1), h - 1);
    const wide = brush.measureText(it.label).width + 6;
    if (w > wide + 4) {
      const from = Math.max(x + 2, brush.gutter + 2);
      if (from + wide > x + w) return;
      brush.fillStyle = colours.ground;
      brush.fillRect(from, y + 2, wide, h - 2);
      words(brush, it.label, from, middle, wide, colours.ink);
    }
  };
  switch (it.what) {
    case "life":
      brush.fillStyle = colours.life;
      brush.fillRect(x, y + 1, w, h);
      return words(brush, it.label, x, middle, w, colours.quiet);
    case "frozen":
      return plate("frozen", true);
    case "stalled":
      return plate("held", true);
    case "closing":
      return plate("quiet", false);
    case "crash":
      return cross(brush, x, middle, 5, colours.crash, 2.5);
    case "deleted":
      return cross(brush, x, middle, 5, colours.crash, 2.5);
    case "turned-away":
      return cross(brush, x, middle, 3, colours.refused);
    case "lost":
      return diamond(brush, x, middle, 5, colours.wrong);
    case "clock-jump":
      brush.fillStyle = colours.held;
      brush.beginPath();
      brush.moveTo(x - 4, y + 2);
      brush.lineTo(x + 4, y + row.height / 2);
      brush.lineTo(x - 4, y + row.height - 2);
      return brush.fill();
  }
}
