import type { RequestListener } from "node:http";
import { type Exchange, idsIn, shapeOf, withoutSecrets } from "./recording.ts";
import { jsonOf, readBody } from "./serve.ts";

/**
 * Calls that change nothing. After the last recorded one of a kind its answer is given again, because clients
 * poll.
 */
const isRead = ({ method, path }: Pick<Exchange, "method" | "path">): boolean =>
  method === "GET" || method === "HEAD" || /\.(?:list|detail|read|get|watch|search)\w*$/.test(path);

/**
 * Answers calls from a recording: equal calls in the order of their answers. Calls are equal when only their
 * ids differ; ids of the client take the place of those that were recorded, in every later answer.
 *
 * @param note gets a line about a call that the recording does not have.
 */
export function replayer(
  exchanges: readonly Exchange[],
  origin: () => string,
  note: (text: string) => void,
): RequestListener {
  const left = Map.groupBy(exchanges, shapeOf);
  /** The recorded ids, and those of the client. */
  const ids = new Map<string, string>();

  function take(call: Pick<Exchange, "method" | "path" | "request">): Exchange | undefined {
    const shape = shapeOf(call);
    const same = left.get(shape) ?? [];
    const [exchange] = same;
    if (exchange === undefined) return undefined;
    if (same.length > 1 || !isRead(exchange)) left.set(shape, same.slice(1));
    const own = idsIn(`${call.path}\n${call.request ?? ""}`);
    for (const [i, id] of idsIn(`${exchange.path}\n${exchange.request ?? ""}`).entries())
      ids.set(id, own[i] ?? id);
    return exchange;
  }

  /** Recorded ids are replaced all at once: an id of the client may be another recorded one. */
  const mine = (text: string): string => {
    const changed = new Map([...ids].filter(([id, own]) => id !== own));
    const whole = text.replaceAll("{origin}", origin());
    return changed.size === 0
      ? whole
      : whole.replaceAll(
          new RegExp([...changed.keys()].map(RegExp.escape).join("|"), "g"),
          (id) => changed.get(id) ?? id,
        );
  };

  return async (request, response) => {
    const { method = "GET", url = "/" } = request;
    const body = await readBody(request).catch(() => Buffer.alloc(0));
    const stored = (text: string) => withoutSecrets(text).replaceAll(origin(), "{origin}");
    const json = jsonOf(request, body);
    const call = { method, path: stored(url), request: json === null ? null : stored(json) };
    const exchange = take(call);
    if (exchange === undefined) {
      const message = `the recording has no further call ${method} ${call.path}${call.request === null ? "" : ` with ${call.request.slice(0, 500)}`}`;
      note(message);
      const code = "not_recorded";
      response.writeHead(501, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ ok: false, error: { code, message }, code, message }));
      return;
    }
    response.writeHead(
      exchange.status,
      Object.fromEntries(Object.entries(exchange.headers).map(([name, value]) => [name, mine(value)])),
    );
    response.end(exchange.encoding === "base64" ? Buffer.from(exchange.body, "base64") : mine(exchange.body));
  };
}
