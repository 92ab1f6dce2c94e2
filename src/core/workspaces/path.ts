import { invalid } from "../failure.ts";
import { unseen } from "../files/filename.ts";

/** Folders and the name, the longest that common file systems take, and of all of them. */
const depthMax = 16;
const segmentBytesMax = 255;
const bytesMax = 1_000;

/**
 * A path within a workspace: names joined by `/`, with none that leads elsewhere. `./` and doubled slashes are left out,
 * and composed characters count as one, so that a file has one spelling.
 *
 * @throws Failure `invalid` for an absolute path, one with `..`, one with characters that hide something, and one that is
 * too deep or too long.
 */
export function workspacePath(text: string): string {
  const refused = (rule: string) => invalid("path", rule);
  if (!text.isWellFormed() || unseen.test(text)) throw refused("must not hold control or bidirectional characters");
  if (/^[/~]|\\|^[A-Za-z]:/.test(text)) throw refused("must be relative, with / between its parts");
  const parts = text
    .normalize("NFC")
    .split("/")
    .filter((part) => part !== "" && part !== ".");
  if (parts.length === 0 || text.endsWith("/")) throw refused("must name a file");
  if (parts.includes("..")) throw refused("must not hold ..");
  if (parts.length > depthMax) throw refused(`must have at most ${depthMax} parts`);
  const path = parts.join("/");
  if (Buffer.byteLength(path) > bytesMax) throw refused(`must be at most ${bytesMax} bytes of UTF-8`);
  if (parts.some((part) => Buffer.byteLength(part) > segmentBytesMax))
    throw refused(`must have parts of at most ${segmentBytesMax} bytes of UTF-8`);
  return path;
}

/** The last part of a path. */
export const nameIn = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
