const number = String.raw`-?\d{1,9}(?:\.\d{1,6})?`;
const operator = String.raw`\s{0,9}[+*×÷]\s{0,9}|\s{1,9}[-/]\s{1,9}`;
/** What makes a number part of a word, a date, a path or a longer sum, which is left alone. */
const before = String.raw`(?<![\p{L}\p{N}.,:_/+*×÷-]|[-+*/×÷]\s{1,9})`;
const after = String.raw`(?![\p{L}\p{N}_/+*×÷-]|[.,:]\d|\s{1,9}[-+*/×÷]\s{0,9}\d)`;
const sum = new RegExp(`${before}(${number})(${operator})(${number})${after}`, "gu");

const sumsMax = 5;

/**
 * Simple sums in a text, worked out: `12 * 4 = 48`. Minus and the slash need blanks
 * around them: without any they stand in dates, versions and paths too.
 */
export function sumsIn(text: string): readonly string[] {
  const found = [...text.matchAll(sum)].slice(0, sumsMax);
  return found.map(([, a = "", between = "", b = ""]) => `${a} ${between.trim()} ${b} ${resultOf(a, between.trim(), b)}`);
}

function resultOf(a: string, operator: string, b: string): string {
  const [x, y] = [Number(a), Number(b)];
  if (operator === "/" || operator === "÷") return y === 0 ? "has no result" : quotient(x, y);
  const plain = operator === "+" ? x + y : operator === "-" ? x - y : x * y;
  const [m, n] = [decimalsOf(a), decimalsOf(b)];
  const decimals = operator === "+" || operator === "-" ? Math.max(m, n) : m + n;
  // Up to here every digit of the product is right once it is rounded to its decimals.
  return Math.abs(plain) * 10 ** decimals < 2 ** 52 ? `= ${Number(plain.toFixed(decimals))}` : `≈ ${Number(plain.toPrecision(12))}`;
}

function quotient(x: number, y: number): string {
  const short = Number((x / y).toPrecision(12));
  return `${short * y === x ? "=" : "≈"} ${short}`;
}

const decimalsOf = (number: string): number => number.split(".")[1]?.length ?? 0;
