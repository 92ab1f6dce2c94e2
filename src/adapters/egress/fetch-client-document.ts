import { limitConcurrency } from "../../async/limit.ts";
import type { AllowedAddresses } from "../../config/address-range.ts";
import type { Clock } from "../../core/clock.ts";
import { Failure } from "../../core/failure.ts";
import { parseJson } from "../../core/json.ts";
import type { FetchDocument, FetchedDocument } from "../../core/oauth/client-documents.ts";
import { guardedFetch } from "./guarded-fetch.ts";
import type { Resolve } from "./resolve.ts";
import { limitTime, unlessAborted } from "./time-limit.ts";

const bytesMax = 5 * 1024;
const fetchMs = 5_000;
/** Documents that one process fetches at the same time. The others wait within their time. */
const atOnce = 64;

const refused = (why: string): Failure =>
  new Failure("invalid_argument", `the document of the client could not be used: ${why}`);
/**
 * One text for every failure before an answer: it does not show which addresses of a private network are in
 * use.
 */
const unreachable = () =>
  refused(`no answer of at most ${bytesMax} bytes was received within ${fetchMs / 1000} seconds`);

/**
 * Fetches metadata documents of OAuth clients within 5 KiB and 5 seconds, without redirects. @param allowed
 * addresses that need not be public
 */
export function createFetchClientDocument(
  clock: Clock,
  resolve: Resolve,
  allowed: readonly AllowedAddresses[],
): FetchDocument {
  const inTurn = limitConcurrency(atOnce);
  return async (url, by) => {
    const time = limitTime(clock, fetchMs, by.signal);
    const bounds = { bytesMax, accountId: by.accountId, signal: time.signal, onTooMuch: () => undefined };
    const guarded = guardedFetch(allowed, resolve, bounds);
    try {
      return await unlessAborted(
        time.signal,
        inTurn(async () =>
          readDocument(await guarded.fetch(url, { headers: { accept: "application/json" } })),
        ),
      );
    } catch (thrown) {
      throw thrown instanceof Failure ? thrown : unreachable();
    } finally {
      time.stop();
      guarded.end();
    }
  };
}

/** @throws Failure `invalid_argument`, or an error of the connection */
async function readDocument(response: Response): Promise<FetchedDocument> {
  if (response.status !== 200)
    throw refused(`the server answered with status ${response.status}, not with 200`);
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(response.headers.get("content-type") ?? ""))
    throw refused("its content type must be application/json");
  const text = await response.text();
  const [, seconds = null] =
    /(?:^|[\s,])max-age=(\d{1,9})/i.exec(response.headers.get("cache-control") ?? "") ?? [];
  const json = parseJson(text);
  if (json === undefined) throw refused("it is not JSON");
  return { json, maxAgeSeconds: seconds === null ? null : Number(seconds) };
}
