import { finished, type Readable, Transform } from "node:stream";
import { type Agent, type Dispatcher, request } from "undici";
import type { AllowedAddresses } from "../config/address-range.ts";
import type { Clock } from "../core/clock.ts";
import { Failure } from "../core/failure.ts";
import type { FetchFile } from "../core/files/fetch.ts";
import { guardedAgent } from "./agent.ts";
import { fetchFault, UnusableFile } from "./fetch-fault.ts";
import { fileNameOf, mediaTypeOf } from "./file-name.ts";
import { isPublic } from "./public-address.ts";
import type { Resolve } from "./resolve.ts";
import { limitTime } from "./time-limit.ts";

const redirectsMax = 5;
const fetchMs = 30_000;
const redirects: readonly number[] = [301, 302, 303, 307, 308];
/** It names the service, and says nothing of who runs it; no cookie and no credential goes out. */
const headers = { "user-agent": "agent-task-platform", accept: "*/*", "accept-encoding": "identity" };

/**
 * Fetches files from public addresses, and from those that the operator allows. What it fails with names the reason
 * (`fetchFault`), with the path `file_url`.
 */
export const fetchFile =
  (allowed: readonly AllowedAddresses[], clock: Clock, resolve: Resolve): FetchFile =>
  async (url, { max, accountId, signal }) => {
    const time = limitTime(clock, fetchMs, signal);
    const state = { isInside: false, hasAnswered: false };
    const guard = { reach: { ports: [80, 443], plain: true, allowed }, resolve, by: { accountId, signal: time.signal } };
    const agent = guardedAgent(guard, (addresses) => {
      state.isInside = !addresses.every(isPublic);
    });
    // A request that still looks for its address does not hear its signal.
    time.signal.addEventListener("abort", () => void agent.destroy());
    const end = () => {
      time.stop();
      void agent.destroy();
    };
    const failed = (thrown: unknown) => {
      if (signal.aborted) return signal.reason;
      const why = fetchFault(thrown, { ...state, isLate: time.signal.aborted }, fetchMs / 1000);
      return new Failure("invalid", `file_url: could not be fetched: ${why}`, { cause: thrown, path: "file_url" });
    };
    try {
      const { answer, from } = await followed(agent, url, time.signal);
      state.hasAnswered = true;
      checkHead(answer, max);
      return {
        bytes: metered(answer.body, max, failed, end),
        contentType: mediaTypeOf(header(answer, "content-type")),
        filename: fileNameOf(header(answer, "content-disposition"), from),
      };
    } catch (thrown) {
      end();
      throw failed(thrown);
    }
  };

interface Answered {
  readonly answer: Dispatcher.ResponseData;
  /** The address that answered, after all redirects. */
  readonly from: URL;
}

/** Follows redirects by hand, because each is another address that a stranger gives. */
async function followed(agent: Agent, url: string, signal: AbortSignal): Promise<Answered> {
  let from = plainUrl(url);
  for (let hop = 0; hop <= redirectsMax; hop++) {
    const answer = await request(from, { dispatcher: agent, headers, signal });
    const location = header(answer, "location");
    if (!redirects.includes(answer.statusCode) || location === undefined) return { answer, from };
    // Nobody reads on, and what then happens to it is no news.
    answer.body.on("error", () => undefined).destroy();
    from = plainUrl(location, from.href);
  }
  throw new UnusableFile(`it redirects more than ${redirectsMax} times`);
}

/** @throws UnusableFile for another scheme, or with user information. */
function plainUrl(text: string, base?: string): URL {
  const url = URL.parse(text, base);
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "")
    throw new UnusableFile(
      `${base === undefined ? "it" : "what it redirects to"} must be an http or https URL without user name and password`,
    );
  return url;
}

/** Refuses before a byte is read what will not do; what comes encoded is never decoded here. */
function checkHead(answer: Dispatcher.ResponseData, max: number): void {
  const flaw = flawOf(answer, max);
  if (flaw === null) return;
  answer.body.on("error", () => undefined).destroy();
  throw flaw;
}

function flawOf(answer: Dispatcher.ResponseData, max: number): UnusableFile | null {
  const { statusCode } = answer;
  const encoding = header(answer, "content-encoding")?.trim().toLowerCase() ?? "";
  if (statusCode !== 200) return new UnusableFile(`the server answered with status ${statusCode}, not with 200`);
  if (!["", "identity"].includes(encoding)) return new UnusableFile("the server sent it with a content encoding that was not asked for");
  return Number(header(answer, "content-length") ?? 0) > max ? tooLarge(max) : null;
}

const tooLarge = (max: number): UnusableFile => new UnusableFile(`the file must be at most ${max} bytes`);

/** A header's first value. */
function header({ headers: all }: Dispatcher.ResponseData, name: string): string | undefined {
  const value = all[name];
  return Array.isArray(value) ? value[0] : value;
}

/**
 * The body as long as it keeps within bounds; `end` is called when it is over, well or badly. What it fails with is what
 * `failed` makes of it, from the first moment on: `errored` too tells nothing of undici or a peer.
 */
function metered(body: Readable, max: number, failed: (thrown: unknown) => unknown, end: () => void): Readable {
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
  // Whoever reads hears of it; nobody may be reading yet.
  meter.on("error", () => undefined);
  meter.on("close", () => {
    body.destroy();
    end();
  });
  return body.pipe(meter);
}
