import type { TimedJob } from "../processes/timed-job.ts";

/** The most words of a query; a run of letters that are indexed in pairs counts as one. */
export const queryWordsMax = 16;

/** The most characters of a word: of longer ones only the beginning is compared. */
const wordMax = 64;
/** The most bytes of a text in UTF-8 that are indexed. */
const textMax = 64 * 1024;

/** A token that a text must have: exactly, or as the beginning of one. */
export interface SearchToken {
  readonly text: string;
  readonly isPrefix: boolean;
}

/** A word of a query: a title or a message has it if it has all of these tokens. */
export type SearchWord = readonly SearchToken[];

/** Letters of scripts without spaces between words, and of Korean, whose words have many endings. */
const inPairs =
  "[[\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Bopomofo}\\p{scx=Hangul}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}]&&[\\p{L}\\p{N}\\p{M}]]";
const words = new RegExp(
  `(${inPairs}+)|[[\\p{L}\\p{N}]--${inPairs}][[\\p{L}\\p{N}\\p{M}]--${inPairs}]*`,
  "gv",
);
/** Characters that are not shown, such as soft hyphens and selectors of emoji. */
const notShown = /\p{Default_Ignorable_Code_Point}+/gu;

/**
 * The distinct tokens of a title or a message, for both databases: letters, digits and their marks only.
 * Words are tokens; runs of letters without spaces are pairs of neighbours and the last letter. At most 64
 * KiB of the text count.
 */
export function tokensOf(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [word, run] of normalize(text).matchAll(words)) {
    if (run === undefined) found.add(cut(word));
    else for (const pair of pairsOf(run, true)) found.add(pair);
  }
  return found;
}

/** The words of a query, each as the tokens that a text must have. The last word is the beginning of one. */
export function wordsOf(query: string): readonly SearchWord[] {
  const found = [...normalize(query).matchAll(words)];
  return found.map(([word, run], index) => {
    if (run === undefined) return [{ text: cut(word), isPrefix: index === found.length - 1 }];
    const pairs = [...new Set(pairsOf(run, false))];
    return pairs.map((text) => ({ text, isPrefix: pairs.length === 1 && [...text].length === 1 }));
  });
}

/**
 * Equal letters become equal texts. Both forms of the small sigma are one letter: which one is used depends
 * on the next letter.
 */
const normalize = (text: string): string =>
  firstBytes(
    text
      .slice(0, textMax)
      .replaceAll(notShown, "")
      .normalize("NFKC")
      .toLowerCase()
      .normalize("NFKC")
      .replaceAll("ς", "σ"),
  );

function firstBytes(text: string): string {
  if (text.length * 3 <= textMax) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(textMax));
  return text.slice(0, read);
}

const cut = (word: string): string => (word.length <= wordMax ? word : [...word].slice(0, wordMax).join(""));

/**
 * The pairs of neighbours in a run; a run of one letter is that letter. @param withLast adds the last letter.
 */
function pairsOf(run: string, withLast: boolean): readonly string[] {
  const letters = [...run];
  const pairs = letters.slice(1).map((letter, index) => `${letters[index]}${letter}`);
  return withLast || pairs.length === 0 ? [...pairs, letters.at(-1) ?? ""] : pairs;
}

const indexMax = 50;

/** Texts that processes of an earlier release wrote can be searched within a minute. */
export const indexTexts: TimedJob = {
  name: "index-texts",
  every: 10_000,
  async run({ store }, signal) {
    for (let ids = await store.tasks.listNotIndexed(indexMax); ids.length > 0 && !signal.aborted; ) {
      const batch = ids;
      await store.change((tx) => tx.tasks.indexTexts(batch));
      ids = await store.tasks.listNotIndexed(indexMax);
    }
  },
};
