import { Failure, invalidArgument } from "../../../../core/failure.ts";
import type { FetchFile } from "../../../../core/files/fetch-files.ts";
import { contentTypeOf } from "../../../../core/files/filename.ts";
import { hostSubjects, withoutFragment } from "../addresses.ts";
import { head, type Tool, type ToolResult, type ToolUse } from "../tool.ts";
import { createTool, fromSchema, pathSchema, pointerSchema, successResult } from "./create-tool.ts";
import { readDocument } from "./reading/document.ts";

interface Input {
  readonly url: string;
  readonly from?: number;
  readonly pointer?: string;
  readonly save_as?: string;
}

const readMax = 20 * 1024 ** 2;
const savedMax = 100 * 1024 ** 2;

/** Fetches a public address. The request contains nothing of ours except the address. */
export const webFetch = (fetchFile: FetchFile): Tool =>
  createTool<Input>({
    name: "web_fetch",
    description:
      "Reads a public http or https address: a page as Markdown (its article, where it has one), or text, CSV, JSON or PDF. When `next` is a number, the next part begins there. With `save_as` it is saved in your workspace instead. Never put anything into an address that the user would not want its owner to know.",
    properties: {
      url: {
        type: "string",
        minLength: 8,
        maxLength: 2_000,
      },
      from: fromSchema,
      pointer: pointerSchema,
      save_as: pathSchema,
    },
    required: ["url"],
    reads: (input) => input["save_as"] === undefined,
    writes: (input) => input["save_as"],
    permission: ({ url }) => ({ tool: "web_fetch", subjects: hostSubjects(URL.parse(url)) }),
    asksItself: true,
    isForeign: true,
    brief: ({ url }) => `Fetch ${placeOf(url)}`,
    async use({ url, ...part }, use) {
      try {
        return await fetchAndRead(fetchFile, url, part, use);
      } catch (thrown) {
        throw thrown instanceof Failure && thrown.path === "file_url" ? unfetchable() : thrown;
      }
    },
  });

/** One text for all failures: it must not reveal what is at an address. */
const unfetchable = (): Failure =>
  invalidArgument(
    "",
    "The address could not be fetched: it must be public, answer 200 within 30 seconds, and not be too large.",
  );

/** The host and path of an address: its query may be private. */
function placeOf(address: string): string {
  const url = URL.parse(address);
  return url === null ? "an address" : head(`${url.host}${url.pathname === "/" ? "" : url.pathname}`, 100);
}

async function fetchAndRead(
  fetchFile: FetchFile,
  url: string,
  { save_as: saveAs, ...part }: Omit<Input, "url">,
  { turn: { workspace, owner, signal }, check }: ToolUse,
): Promise<ToolResult> {
  const answer = await fetchFile(url, {
    max: saveAs === undefined ? readMax : savedMax,
    accountId: owner.accountId,
    signal,
    check: (to, from) => check(withoutFragment(to), from ? { from } : {}),
  });
  try {
    const { bytes, contentType, url: answered } = answer;
    const filename = answer.filename ?? "page";
    const source = { filename, contentType: contentType ?? contentTypeOf(filename), url: answered };
    if (saveAs === undefined)
      return successResult(await readDocument({ ...source, read: () => bytes }, { ...part, signal }));
    const saved = await workspace.write(saveAs, answer.bytes);
    return successResult({ saved: saved.path, bytes: saved.bytes, content_type: answer.contentType });
  } catch (thrown) {
    signal.throwIfAborted();
    // An error of the transfer hides its consequences, and its text is untrusted.
    throw answer.bytes.errored === null ? thrown : unfetchable();
  } finally {
    answer.bytes.destroy();
  }
}
