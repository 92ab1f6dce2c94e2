import { finished, type Readable, Transform } from "node:stream";
import { MIMEType } from "node:util";
import type { Agent, Dispatcher } from "undici";
import type { AllowedAddresses } from "../../config/address-range.ts";
import type { Clock } from "../../core/clock.ts";
import { Failure } from "../../core/failure.ts";
import type { FetchBound, FetchFile } from "../../core/files/fetch-files.ts";
import { classifyFault, codeOf, guardedAgent, type RequestFault } from "./agent.ts";
import { LookUpFailed, type LookUpFault } from "./look-up.ts";
import { isPublic } from "./public-address.ts";
import type { Resolve } from "./resolve.ts";
import { limitTime } from "./time-limit.ts";
import { undici } from "./undici.ts";

/**
 * The file's name in the server's response (RFC 6266: `filename*` before `filename`),
 * or else the last part of its URL; null without both.
 */
export const fileNameOf = (disposition: string | undefined, url: URL): string | null =>
  dispositionName(disposition ?? "") || lastPart(url) || null;

/** The media type without parameters, in lower case; null if it is missing or invalid. */
export const mediaTypeOf = (header: string | undefined): string | null =>
  parseMediaType(header ?? "")?.essence ?? null;

/** Parameters of a disposition have the form of a media type's (RFC 9110 5.6.6). */
function dispositionName(header: string): string | undefined {
  const parameters = parseMediaType(`x/${header.trim()}`)?.params;
  return decodeExtended(parameters?.get("filename*") ?? "") || decodeUtf8(parameters?.get("filename") ?? "");
}

/** `UTF-8''na%C3%AFve.txt` (RFC 8187). */
function decodeExtended(text: string): string | undefined {
  const [, charset = "", value = ""] = /^([^']*)'[^']*'(.*)$/.exec(text) ?? [];
  return charset.toLowerCase() === "utf-8" ? decodePercent(value) : undefined;
}

/** Headers are read as ISO 8859-1, but many servers send UTF-8. */
function decodeUtf8(text: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(text, "latin1"));
  } catch {
    return text;
  }
}

const lastPart = (url: URL): string | undefined =>
  decodePercent(url.pathname.slice(url.pathname.lastIndexOf("/") + 1));

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function parseMediaType(text: string): MIMEType | undefined {
  try {
    return new MIMEType(text);
  } catch {
    return undefined;
  }
}

/** The URL or the response cannot be used. Callers see its message. */
class UnusableFile extends Error {
  override readonly name = "UnusableFile";
}

/** The caller's check has refused a request; `cause` is what it has thrown. */
class CheckFailed extends Error {
  constructor(cause: unknown) {
    super("a request was refused", { cause });
  }
}

export interface FetchState {
  /** Whether the time limit was exceeded. */
  readonly isLate: boolean;
  /** Whether its last connection uses an address that is not public, but allowed (`FETCH_ALLOW`). */
  readonly isInside: boolean;
  /**
   * Whether the head of the last response was received. Such a server is known to exist, so callers may see
   * the error.
   */
  readonly hasAnswered: boolean;
}

/**
 * The only text about an address that is not public. It is the same for an address that may not be reached
 * and for one that may be reached but does not answer, so it does not show which addresses and ports of a
 * private network are in use (spec/decisions.md 39).
 */
const notPublic = "the address must be public, on port 80 or 443; this one is not, or nothing answers there";

const lookUpTexts: Readonly<Record<LookUpFault, string>> = {
  not_found: "the host name was not found",
  no_answer: "the host name could not be looked up: no name server answered in time",
  busy: "the host name could not be looked up: too many look-ups are in progress; try again",
};

const requestTexts: Readonly<Record<RequestFault, string>> = {
  address_refused: notPublic,
  timeout: "the server did not answer in time",
  tls: "no secure connection could be made: check the server's certificate",
  protocol: "the server did not answer in HTTP",
  connection: "the connection failed before the server answered",
};

/** The reason why a file could not be fetched, as our own text for callers. */
export function fetchFaultText(
  thrown: unknown,
  { isLate, isInside, hasAnswered }: FetchState,
  seconds: number,
): string {
  if (thrown instanceof UnusableFile) return thrown.message;
  if (thrown instanceof LookUpFailed) return lookUpTexts[thrown.kind];
  if (isInside && !hasAnswered) return notPublic;
  if (isLate) return `the file was not received within ${seconds} seconds`;
  if (hasAnswered) return "the connection failed before the complete file was received";
  if (codeOf(thrown) === "ECONNREFUSED") return "the server refused the connection";
  return requestTexts[classifyFault(thrown)];
}

const redirectsMax = 5;
const fetchMs = 30_000;
const redirects: readonly number[] = [301, 302, 303, 307, 308];
/** The headers name the service but not its operator. Requests have no cookies and no credentials. */
const headers = { "user-agent": "agent-task-platform", accept: "*/*", "accept-encoding": "identity" };

/**
 * Fetches files from public addresses, and from addresses that the operator allows. Its failures have the
 * reason (`fetchFaultText`) and the path `file_url`.
 */
export const fetchFile =
  (allowed: readonly AllowedAddresses[], clock: Clock, resolve: Resolve): FetchFile =>
  async (url, { max, accountId, signal, check }) => {
    const time = limitTime(clock, fetchMs, signal);
    const state = { isInside: false, hasAnswered: false };
    const guard = {
      reach: { ports: [80, 443], plain: true, allowed },
      resolve,
      by: { accountId, signal: time.signal },
    };
    const agent = guardedAgent(guard, (addresses) => {
      state.isInside = !addresses.every(isPublic);
    });
    // A request ignores its signal during the look-up.
    time.signal.addEventListener("abort", () => void agent.destroy());
    const end = () => {
      time.stop();
      void agent.destroy();
    };
    const failed = (thrown: unknown) => {
      if (signal.aborted) return signal.reason;
      if (thrown instanceof CheckFailed) return thrown.cause;
      const reason = fetchFaultText(thrown, { ...state, isLate: time.signal.aborted }, fetchMs / 1000);
      return new Failure("invalid_argument", `file_url: could not be fetched: ${reason}`, {
        cause: thrown,
        path: "file_url",
      });
    };
    try {
      const { answer, from } = await followRedirects(agent, url, time.signal, check);
      state.hasAnswered = true;
      checkHead(answer, max);
      return {
        bytes: metered(answer.body, max, failed, end),
        contentType: mediaTypeOf(header(answer, "content-type")),
        filename: fileNameOf(header(answer, "content-disposition"), from),
        url: from.href,
      };
    } catch (thrown) {
      end();
      throw failed(thrown);
    }
  };

interface FinalResponse {
  readonly answer: Dispatcher.ResponseData;
  /** The URL that answered, after all redirects. */
  readonly from: URL;
}

/** Follows redirects explicitly, because each is another address from outside. */
async function followRedirects(
  agent: Agent,
  url: string,
  signal: AbortSignal,
  check: FetchBound["check"],
): Promise<FinalResponse> {
  let from = plainUrl(url);
  let before: URL | null = null;
  for (let hop = 0; hop <= redirectsMax; hop++) {
    await check?.(from, before).catch((cause: unknown) => {
      throw new CheckFailed(cause);
    });
    const answer = await undici().request(from, { dispatcher: agent, headers, signal });
    const location = header(answer, "location");
    if (!redirects.includes(answer.statusCode) || location === undefined) return { answer, from };
    // The rest of the body is not read, and its errors are ignored.
    answer.body.on("error", () => undefined).destroy();
    before = from;
    from = plainUrl(location, from.href);
  }
  throw new UnusableFile(`it redirects more than ${redirectsMax} times`);
}

/** @throws UnusableFile for another scheme, or with user information. */
function plainUrl(text: string, base?: string): URL {
  const url = URL.parse(text, base);
  if (
    url === null ||
    !["http:", "https:"].includes(url.protocol) ||
    url.username !== "" ||
    url.password !== ""
  )
    throw new UnusableFile(
      `${base === undefined ? "it" : "the redirect target"} must be an http or https URL without user name and password`,
    );
  return url;
}

/**
 * Refuses an unusable response before its body is read. Encoded bodies are refused, because they are never
 * decoded here.
 */
function checkHead(answer: Dispatcher.ResponseData, max: number): void {
  const fault = faultOf(answer, max);
  if (fault === null) return;
  answer.body.on("error", () => undefined).destroy();
  throw fault;
}

function faultOf(answer: Dispatcher.ResponseData, max: number): UnusableFile | null {
  const { statusCode } = answer;
  const encoding = header(answer, "content-encoding")?.trim().toLowerCase() ?? "";
  if (statusCode !== 200)
    return new UnusableFile(`the server answered with status ${statusCode}, not with 200`);
  if (!["", "identity"].includes(encoding))
    return new UnusableFile("the server sent it with a content encoding that was not requested");
  return Number(header(answer, "content-length") ?? 0) > max ? tooLarge(max) : null;
}

const tooLarge = (max: number): UnusableFile => new UnusableFile(`the file must be at most ${max} bytes`);

/** A header's first value. */
function header({ headers: all }: Dispatcher.ResponseData, name: string): string | undefined {
  const value = all[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * The body, up to the limit. `end` is called when it has ended or failed. Each error is translated by
 * `failed` at once, so that `errored` also contains no text of undici or a peer.
 */
function metered(
  body: Readable,
  max: number,
  failed: (thrown: unknown) => unknown,
  end: () => void,
): Readable {
  let bytes = 0;
  const meter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > max) fail(tooLarge(max));
      else done(null, chunk);
    },
  });
  const fail = (thrown: unknown): Readable => meter.destroy(failed(thrown) as Error); // A Failure, or the reason that the caller gave.
  finished(body, (thrown) => void (thrown && fail(thrown)));
  // The reader sees the error; this handler is needed while there is no reader.
  meter.on("error", () => undefined);
  meter.on("close", () => {
    body.destroy();
    end();
  });
  return body.pipe(meter);
}
