import { count, shorten } from "../words.ts";

/** Lines, words, and the first line with something in it. */
export function textProfile(text: string): readonly string[] {
  const lines = linesOf(text);
  const first = lines.find((line) => line.trim() !== "");
  const size = `${count(lines.length, "line")}, ${count(text.match(/\S+/g)?.length ?? 0, "word")}`;
  return first === undefined ? [size] : [size, `first line: ${shorten(first.trim())}`];
}

/** A line feed at the end ends the last line, and begins none. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n|\r/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
