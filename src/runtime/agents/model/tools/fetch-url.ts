import { Failure, invalidArgument } from "../../../../core/failure.ts";
import type { FetchedFile, FetchFile } from "../../../../core/files/fetch-files.ts";
import { contentTypeOf } from "../../../../core/files/filename.ts";
import { isObject } from "../../../../core/json.ts";
import { hostSubjects, withoutFragment } from "../addresses.ts";
import type { Tool, ToolResult, ToolUse } from "../tool.ts";
import {
  createTool,
  fromSchema,
  pathSchema,
  pointerSchema,
  readsUnlessSaved,
  successResult,
} from "./create-tool.ts";
import { readDocument } from "./reading/document.ts";
import type { Part, Reading } from "./reading/text.ts";

interface Input {
  readonly url: string;
  readonly from?: number;
  readonly pointer?: string;
  readonly save_as?: string;
}

const readMax = 20 * 1024 ** 2;
const savedMax = 100 * 1024 ** 2;

/** Fetches a public address. The request contains nothing of ours except the address. */
export const fetchUrl = (fetchFile: FetchFile): Tool =>
  createTool<Input>({
    name: "fetch_url",
    description:
      "Fetches a public http or https address, on port 80 or 443: a page as its text and links, or text, CSV, JSON or PDF. Long ones come in parts: when `next` is a number, call again with it as `from`. With `save_as` it is saved in your workspace instead. Never put anything into an address that the user would not want its owner to know: the user may have to approve an address that is not theirs, and no link of a page that you have read.",
    properties: {
      url: {
        type: "string",
        minLength: 8,
        maxLength: 2_000,
        description: "The full address, with http:// or https://.",
      },
      from: fromSchema,
      pointer: pointerSchema,
      save_as: pathSchema,
    },
    required: ["url"],
    reads: readsUnlessSaved,
    permission: ({ url }) => ({ tool: "web_fetch", subjects: hostSubjects(URL.parse(url)) }),
    asksItself: true,
    isForeign: true,
    brief: ({ url }) => `Fetch ${hostOf(url)}`,
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

/** The host of an address: the rest of the address may be private. */
const hostOf = (url: string): string => URL.parse(url)?.host ?? "an address";

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
    if (saveAs === undefined) return successResult({ ...(await read(answer, { ...part, signal })) });
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

/** Reads a part. The links of a page become complete addresses. */
async function read(
  { bytes, contentType, filename, url }: FetchedFile,
  part: Partial<Part> & Pick<Part, "signal">,
): Promise<Reading> {
  const name = filename ?? "page";
  const page = await readDocument(
    { filename: name, contentType: contentType ?? contentTypeOf(name), read: () => bytes },
    part,
  );
  const { links } = page;
  if (!Array.isArray(links)) return page;
  return {
    ...page,
    links: links.map((link) =>
      isObject(link) ? { ...link, url: URL.parse(String(link["url"]), url)?.href ?? "" } : link,
    ),
  };
}
