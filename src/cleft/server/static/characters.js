// Characters as they can be drawn; the same rules as cleft.draw.characters.

const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]|\p{Surrogate}/gu;
const SEEN = /[^\s\p{Cf}\p{Mn}\p{Me}]/u;

/**
 * The text with every character that must not be drawn replaced by one that shows.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(UNSAFE, (char) => {
    const code = char.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  });
}

/**
 * The text made visible; where there is nothing to see, a sign that says so.
 * @param {string} text
 * @param {string} [blank]
 */
export function shown(text, blank = "␣") {
  const seen = visible(text);
  return SEEN.test(seen) ? seen : blank;
}

/**
 * A probability for people.
 * @param {number} probability
 */
export function percent(probability) {
  if (probability > 0 && probability < 0.01) return "<1 %";
  return `${Math.round(100 * probability)} %`;
}

/**
 * The probability of a whole tree, which may be small: two digits that count.
 * @param {number} probability
 */
export function chance(probability) {
  const share = 100 * probability;
  if (share >= 10) return `${Math.round(share)} %`;
  if (share >= 0.01) return `${Number(share.toPrecision(2))} %`;
  return "<0.01 %";
}

/**
 * A count with its noun.
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
