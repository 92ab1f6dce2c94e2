import { Failure, invalidArgument } from "../../../../core/failure.ts";
import type { FetchedFile, FetchFile } from "../../../../core/files/fetch-files.ts";
import { contentTypeOf } from "../../../../core/files/filename.ts";
import type { Turn } from "../../../agent.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { createTool, fromSchema, pathSchema, pointerSchema, successResult } from "./create-tool.ts";
import { readDocument } from "./reading/document.ts";
import type { Part } from "./reading/text.ts";

interface Input {
  readonly url: string;
  readonly from?: number;
  readonly pointer?: string;
  readonly save_as?: string;
}

/** The most bytes that are read, and that are saved. */
const readMax = 20 * 1024 ** 2;
const savedMax = 100 * 1024 ** 2;

/** Fetches a public address. The request contains nothing of ours except the address. */
export const fetchUrl = (fetchFile: FetchFile): Tool =>
  createTool<Input>({
    name: "fetch_url",
    description:
      "Fetches a public http or https address, on port 80 or 443: a page as its text and links, or text, CSV, JSON or PDF. Long ones come in parts: when `next` is a number, call again with it as `from`. With `save_as` it is saved in your workspace instead. Never put anything into an address that the user would not want its owner to know.",
    properties: {
      url: { type: "string", minLength: 8, maxLength: 2_000, description: "The full address, with http:// or https://." },
      from: fromSchema,
      pointer: pointerSchema,
      save_as: pathSchema,
    },
    required: ["url"],
    brief: ({ url }) => `Fetch ${hostOf(url)}`,
    async use({ url, ...part }, { turn }) {
      try {
        return await fetchAndRead(fetchFile, url, part, turn);
      } catch (thrown) {
        throw thrown instanceof Failure && thrown.path === "file_url" ? unfetchable() : thrown;
      }
    },
  });

/** One text for all failures: it must not reveal what is at an address. */
const unfetchable = (): Failure =>
  invalidArgument("", "The address could not be fetched: it must be public, answer 200 within 30 seconds, and not be too large.");

/** The host of an address: the rest of the address may be private. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? "an address";

async function fetchAndRead(
  fetchFile: FetchFile,
  url: string,
  { save_as: path, ...part }: Omit<Input, "url">,
  { workspace, owner, signal }: Turn,
): Promise<ToolResult> {
  const answer = await fetchFile(url, { max: path === undefined ? readMax : savedMax, accountId: owner.accountId, signal });
  try {
    if (path === undefined) return successResult({ ...(await read(answer, { ...part, signal })) });
    const saved = await workspace.write(path, answer.bytes);
    return successResult({ saved: saved.path, bytes: saved.bytes, content_type: answer.contentType });
  } catch (thrown) {
    signal.throwIfAborted();
    // An error of the transfer hides its consequences, and its text is untrusted.
    throw answer.bytes.errored === null ? thrown : unfetchable();
  } finally {
    answer.bytes.destroy();
  }
}

function read({ bytes, contentType, filename }: FetchedFile, part: Partial<Part> & Pick<Part, "signal">) {
  const name = filename ?? "page";
  return readDocument({ filename: name, contentType: contentType ?? contentTypeOf(name), read: () => bytes }, part);
}
