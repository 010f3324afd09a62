// Time as it is drawn. In a run of few steps the long pauses, in which nothing happens, are drawn short.

const END = Math.max(told.end, 1);
/** Where there is no time but moves, each is as long as this. */
const MOVE = 1e6;
const isInMoves = told.moves !== undefined;
/** Few enough steps to be told one after the other. */
const IS_SHORT = told.lines.length <= 200;

/** All at which something happens, the beginning and the end among them. */
const MOMENTS = IS_SHORT ? distinct([0, END, ...told.lines.map(([at]) => at)]) : [0, END];
const PAUSES = MOMENTS.slice(1).map((to, nth) => ({ from: MOMENTS[nth], to }));

/** What is longer is a long pause: twice as long as the middle one of all. */
const PAUSE_MAX = 2 * PAUSES.map(({ from, to }) => to - from).sort((a, b) => a - b)[PAUSES.length >> 1];
const LONG_PAUSES = PAUSES.filter(({ from, to }) => to - from > PAUSE_MAX);

/** A long pause is drawn the longer the longer it is, but not in proportion. */
const drawnPause = ({ from, to }) => (to - from <= PAUSE_MAX ? to - from : PAUSE_MAX * (1 + 0.3 * Math.log10((to - from) / PAUSE_MAX)));
/** Where each moment is drawn, if long pauses are drawn short; both ends stay where they are. */
const PLACES = [0];
for (const pause of PAUSES) PLACES.push(PLACES.at(-1) + drawnPause(pause));
const stretch = END / PLACES.at(-1);
PLACES.forEach((place, nth) => (PLACES[nth] = place * stretch));

/** Whether it is worth it: where all is as far apart, nothing would be won. */
const CAN_SHORTEN = IS_SHORT && !isInMoves && stretch > 1.5;
let arePausesShort = CAN_SHORTEN;

/** The value that is as far between others as this one is between its own. */
function between(value, own, others) {
  if (!arePausesShort || value <= 0 || value >= END) return value;
  let [low, high] = [0, own.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (own[middle] <= value) low = middle;
    else high = middle;
  }
  return others[low] + ((value - own[low]) / (own[high] - own[low])) * (others[high] - others[low]);
}
/** Where on the whole axis a moment is drawn, which is as long as the run; and the moment that is drawn there. */
const drawnOf = (at) => between(at, MOMENTS, PLACES);
const momentOf = (drawn) => between(drawn, PLACES, MOMENTS);

// Cut, as the program cuts them, so that a moment is found by its words.
const moment = (at) => (isInMoves ? `move ${Math.floor(at / MOVE)}` : `${(Math.floor(at / 1e3) / 1e6).toFixed(6)} s`);
const inWords = (nanos, digits = 2) =>
  isInMoves
    ? `${+(nanos / MOVE).toFixed(1)} moves`
    : nanos >= 1e9 || nanos === 0
      ? `${+(nanos / 1e9).toFixed(digits)} s`
      : nanos >= 1e6
        ? `${+(nanos / 1e6).toFixed(digits)} ms`
        : `${+(nanos / 1e3).toFixed(1)} µs`;
