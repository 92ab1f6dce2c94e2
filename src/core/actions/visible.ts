/**
 * A text as it is shown to the person who decides by it: what is hidden or moves other characters is visible.
 *
 * - Control characters except tab and line feed, `Bidi_Control`, zero-width and tag characters, and the other
 *   characters without an own form (Unicode: `Default_Ignorable_Code_Point`) become `\u{202E}`. Emoji
 *   sequences stay.
 * - More than 3 empty lines become one line that counts them; more than 200 blanks in a row are counted too.
 *
 * Only for display: what is stored, sent and answered stays as it is.
 *
 * @param words the words of the counts, in the reader's language.
 */
export function visible(text: string, words: CountWords = english): string {
  return text
    .replaceAll(
      emptyLines,
      (_, before: string, lines: string) => `${before}${words.emptyLines(lines.split("\n").length - 1)}\n`,
    )
    .replaceAll(blanks, (found) => words.blanks(found.length))
    .replaceAll(emojiOrHidden, (found) => (startsHidden.test(found) ? escaped(found) : found));
}

/** The words that replace what is not shown in full length. */
export interface CountWords {
  readonly emptyLines: (count: number) => string;
  readonly blanks: (count: number) => string;
}

const english: CountWords = {
  emptyLines: (count) => `(${count} empty lines)`,
  blanks: (count) => `(${count} blanks)`,
};

/** Lines of blanks or nothing, at least 4: at the beginning, or after a line feed. */
const emptyLines = /(^|\n)((?:[^\S\n]*\n){4,})/g;
const blanks = /[^\S\n]{201,}/g;

/** Also line separators, annotation marks, and halves of a surrogate pair. */
const hidden = String.raw`(?![\t\n])[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}\uFFF9-\uFFFB]`;
/** The flags of England, Scotland and Wales are the only ones that Unicode recommends with tag characters. */
const tagFlag = ["gbeng", "gbsct", "gbwls"]
  .map((region) => `\u{1F3F4}${[...region].map(tagOf).join("")}\u{E007F}`)
  .join("|");
const pictograph = String.raw`\p{Extended_Pictographic}[\uFE0E\uFE0F\p{Emoji_Modifier}]?`;
/**
 * Emoji with the hidden characters that belong to them: without the flag `v`, which older browsers do not
 * read.
 */
const emoji = String.raw`${tagFlag}|[#*0-9]\uFE0F\u20E3|${pictograph}(?:\u200D${pictograph})*`;
const emojiOrHidden = new RegExp(`${emoji}|${hidden}`, "gu");
const startsHidden = new RegExp(`^${hidden}`, "u");

function tagOf(letter: string): string {
  return String.fromCodePoint(0xe0000 + letter.charCodeAt(0));
}

const escaped = (letter: string): string => `\\u{${letter.codePointAt(0)?.toString(16).toUpperCase()}}`;
