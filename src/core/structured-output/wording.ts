const textLengthMax = 10_000;
const phraseLengthMax = 80;
const labelsMax = 100;

const numeral = /(?<![\p{L}\p{N}.-])-?\d{1,15}(?:\.\d{1,6})?/gu;
const labelled = /(?<![\p{L}\p{N}_])([\p{L}_][\p{L}\p{N}_ ]{0,39}) {0,3}[:=] {0,3}([^\s,;:=](?:[^\n,;.!?]|[.!?](?!\s|$)){0,79})/gu;

/** What a text offers to somebody who fills in a form, asked by the names of its fields. */
export interface Wording {
  phrase(name: string): string;
  number(name: string): number;
  truth(name: string): boolean;
}

/**
 * Answers from a text: what it labels with the name (`total: 7`, `unit price = 7` for `unitPrice`), else its sentences and
 * numbers in turn. A text without sentences answers with the name, one without numbers with the count of its words; what it
 * does not label is true when it speaks of it. The same questions in the same order have the same answers.
 */
export function wordingOf(text: string): Wording {
  const start = text.slice(0, textLengthMax).toWellFormed();
  const words = wordsOf(start);
  const said = labelsOf(start);
  const phrase = inTurn(
    start
      .split(/(?<=[.!?])\s+|\n+/)
      .map(shortened)
      .filter(Boolean),
  );
  const number = inTurn(numbersIn(start));
  return {
    phrase: (name) => shortened(said(name) ?? phrase() ?? name),
    number: (name) => numbersIn(said(name) ?? "")[0] ?? number() ?? words.split(" ").filter(Boolean).length,
    truth(name) {
      const answer = said(name);
      return answer === undefined ? ` ${words} `.includes(` ${wordsOf(name)} `) : /^(?:yes|true|on)\b/i.test(answer);
    },
  };
}

/** What stands behind a label whose last words are the name. */
function labelsOf(text: string): (name: string) => string | undefined {
  const labels = [...text.matchAll(labelled).take(labelsMax)].map(([, label = "", said = ""]) => ({ label: ` ${wordsOf(label)}`, said }));
  return (name) => {
    const ending = ` ${wordsOf(name)}`;
    return labels.find(({ label }) => label.endsWith(ending))?.said;
  };
}

const numbersIn = (text: string): readonly number[] => [...text.matchAll(numeral)].map(([number]) => Number(number));

/** Lower-case words with one blank between them: `unitPrice` and `unit_price` are both `unit price`. */
function wordsOf(name: string): string {
  const parted = name.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, " ");
  return parted
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join(" ")
    .toLowerCase();
}

function shortened(text: string): string {
  const symbols = [...text.trim().replaceAll(/\s+/g, " ")];
  return symbols.slice(0, phraseLengthMax).join("").trim();
}

/** One after the other, then from the first again; undefined when there are none. */
function inTurn<T>(values: readonly T[]): () => T | undefined {
  let count = 0;
  return () => values[count++ % values.length];
}
