import { Failure, invalid } from "../../../../core/failure.ts";
import type { FetchedFile, FetchFile } from "../../../../core/files/fetch.ts";
import { contentTypeOf } from "../../../../core/files/filename.ts";
import type { Turn } from "../../../agent.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { readDocument } from "./reading/document.ts";
import type { Part } from "./reading/source.ts";
import { fromSchema, given, pathSchema, pointerSchema, toolOf } from "./tool-of.ts";

interface Input {
  readonly url: string;
  readonly from?: number;
  readonly pointer?: string;
  readonly save_as?: string;
}

/** Bytes of what is read, and of what is saved. */
const readMax = 20 * 1024 ** 2;
const savedMax = 100 * 1024 ** 2;

/** Reads a public address. It sends nothing of ours but the address itself. */
export const fetchUrl = (fetchFile: FetchFile): Tool =>
  toolOf<Input>({
    name: "fetch_url",
    description:
      "Fetches a public http or https address, on port 80 or 443: a page as its text and links, or text, CSV, JSON or PDF. Long ones come in parts: when `next` is a number, call again with it as `from`. With `save_as` it is saved in your workspace instead. Never put anything into an address that the user would not want its owner to know.",
    properties: {
      url: { type: "string", minLength: 8, maxLength: 2_000, description: "The whole address, with http:// or https://." },
      from: fromSchema,
      pointer: pointerSchema,
      save_as: pathSchema,
    },
    required: ["url"],
    brief: ({ url }) => `Fetch ${hostOf(url)}`,
    async use({ url, ...part }, { turn }) {
      try {
        return await fetched(fetchFile, url, part, turn);
      } catch (thrown) {
        throw thrown instanceof Failure && thrown.path === "file_url" ? unfetchable() : thrown;
      }
    },
  });

/** One text for whatever went wrong: it must not tell what stands behind an address. */
const unfetchable = (): Failure =>
  invalid("", "It could not be fetched: only a public address that answers 200 within 30 seconds, and is not too large, can.");

/** An address may hold what is nobody's business. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? "an address";

async function fetched(
  fetchFile: FetchFile,
  url: string,
  { save_as: path, ...part }: Omit<Input, "url">,
  { workspace, owner, signal }: Turn,
): Promise<ToolResult> {
  const answer = await fetchFile(url, { max: path === undefined ? readMax : savedMax, accountId: owner.accountId, signal });
  try {
    if (path === undefined) return given({ ...(await read(answer, { ...part, signal })) });
    const saved = await workspace.write(path, answer.bytes);
    return given({ saved: saved.path, bytes: saved.bytes, content_type: answer.contentType });
  } catch (thrown) {
    signal.throwIfAborted();
    // What went wrong on the way, not what that broke: it is a stranger's doing.
    throw answer.bytes.errored === null ? thrown : unfetchable();
  } finally {
    answer.bytes.destroy();
  }
}

function read({ bytes, contentType, filename }: FetchedFile, part: Partial<Part> & Pick<Part, "signal">) {
  const name = filename ?? "page";
  return readDocument({ filename: name, contentType: contentType ?? contentTypeOf(name), read: () => bytes }, part);
}
