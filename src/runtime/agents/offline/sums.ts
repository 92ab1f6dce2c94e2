/** Numbers with operators between them; a sum has one operator, a longer chain is left alone. */
const chain = /(?<![\p{L}\p{N}.,_/+*-])-?\d+(?:\.\d+)?(?:(?:\s*[+*×÷]\s*|\s+[-/]\s+)-?\d+(?:\.\d+)?)+(?![\p{L}\p{N}_/+*×÷-]|[.,]\d|\s+[-+*/×÷]\s*\d)/gu;
const sum = /^(-?\d{1,9}(?:\.\d{1,6})?)\s*([-+*/×÷])\s*(-?\d{1,9}(?:\.\d{1,6})?)$/;

const sumsMax = 5;

/**
 * Simple sums in a text, worked out: `12 * 4 = 48`. Minus and the slash need blanks
 * around them: without any they stand in dates, versions and paths too.
 */
export function sumsIn(text: string): readonly string[] {
  const found: string[] = [];
  for (const [chained] of text.matchAll(chain)) {
    const [, a, operator = "", b] = sum.exec(chained) ?? [];
    if (a !== undefined && b !== undefined) found.push(`${a} ${operator} ${b} ${resultOf(a, operator, b)}`);
  }
  return found.slice(0, sumsMax);
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
