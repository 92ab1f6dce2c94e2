import { isUtf8 } from "node:buffer";
import { Failure } from "../../../core/failure.ts";
import type { AttachedFile } from "../../agent.ts";
import { count, itemsMax, shorten } from "./text.ts";

/** The largest file that is read. */
const bytesMax = 1024 * 1024;

/** Types that may be text. Archives, documents and pictures are not opened. */
const textual =
  /^(?:text\/.*|application\/(?:.*\+)?(?:json|xml|yaml|toml|javascript|sql|octet-stream|x-.*))$/;

/** Describes the first files of a turn; empty without any. The same bytes give the same text. */
export async function describeFiles(files: readonly AttachedFile[]): Promise<string> {
  const lines: string[] = [];
  for (const file of files.slice(0, itemsMax))
    lines.push(
      `File ${shorten(file.filename)} (${file.contentType}, ${count(file.bytes, "byte")}): ${await factsOf(file)}`,
    );
  if (files.length > itemsMax) lines.push(`… and ${count(files.length - itemsMax, "file")} more`);
  return lines.join("\n");
}

/** The lines, words and first line of a text. */
async function factsOf({ contentType, bytes, read }: AttachedFile): Promise<string> {
  if (!textual.test(contentType) || bytes > bytesMax) return "not read";
  try {
    const content = Buffer.concat(await Array.fromAsync(read()));
    if (!isUtf8(content) || content.includes(0)) return "not UTF-8 text, so not read";
    const lines = content.toString().split(/\r\n|\n|\r/);
    if (lines.at(-1) === "") lines.pop();
    const words = lines.reduce((sum, line) => sum + (line.match(/\S+/g)?.length ?? 0), 0);
    const first = lines.find((line) => line.trim() !== "");
    const size = `${count(lines.length, "line")}, ${count(words, "word")}`;
    return first === undefined ? size : `${size}\n- first line: ${shorten(first.trim())}`;
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason === "not_found") return "gone before it was read";
    throw thrown;
  }
}
