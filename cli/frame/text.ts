import { visible } from "../../src/core/actions/visible.ts";

// Texts of agents and of other users are shown on terminals, which obey control characters in them.

/** The text with its lines, in which characters that control a terminal or move the text are visible. */
export const clean = (text: string): string => visible(text.replaceAll("\r\n", "\n"));

/** The text on one line. */
export const oneLine = (text: string): string => clean(text).replaceAll(/\s+/g, " ").trim();

/** JSON whose control characters are escaped, C1 too. */
export const safeJson = (value: unknown, indent = 0): string =>
  (JSON.stringify(value, null, indent) ?? "null").replaceAll(
    /[\u007f-\u009f]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** What takes two columns: wide characters (UAX 11), and emoji. */
const wide =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{RGI_Emoji})/v;
/** What takes none. */
const unseen = /^[\p{Default_Ignorable_Code_Point}\p{Mn}\p{Me}]+$/v;
const segmenter = new Intl.Segmenter();
/** The visible characters of a text. */
const lettersOf = (text: string): readonly string[] =>
  [...segmenter.segment(text)].map(({ segment }) => segment);
const widthOfLetter = (letter: string): number => (wide.test(letter) ? 2 : unseen.test(letter) ? 0 : 1);

/** The number of columns that a line without colours takes. */
export const widthOf = (line: string): number =>
  lettersOf(line).reduce((sum, letter) => sum + widthOfLetter(letter), 0);

/** The line, shortened to a number of columns. */
export function shorten(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  let width = 0;
  let kept = "";
  for (const letter of lettersOf(line)) {
    width += widthOfLetter(letter);
    if (width > columns - 1) break;
    kept += letter;
  }
  return `${kept.trimEnd()}…`;
}

/** The text in lines of at most this many columns, broken at blanks. */
export function wrap(text: string, columns: number): readonly string[] {
  return text.split("\n").flatMap((line) => wrapLine(line.replaceAll("\t", "  "), Math.max(10, columns)));
}

function wrapLine(line: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let [now, width] = ["", 0];
  for (const word of line.split(/(?<= )/)) {
    if (width + widthOf(word.trimEnd()) > columns && now !== "") {
      lines.push(now.trimEnd());
      [now, width] = ["", 0];
    }
    for (const letter of lettersOf(word)) {
      if (width + widthOfLetter(letter) > columns && letter !== " ") {
        lines.push(now);
        [now, width] = ["", 0];
      }
      now += letter;
      width += widthOfLetter(letter);
    }
  }
  return [...lines, now.trimEnd()];
}
