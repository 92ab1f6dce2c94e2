/** A page of an origin. */
export interface Page {
  /**
   * The page's `fetch`. @throws TypeError where a browser would not allow the call or access to the response
   */
  readonly fetch: typeof globalThis.fetch;
  /** The sent requests in order; preflights as `OPTIONS`. */
  readonly sent: readonly { readonly method: string; readonly url: URL }[];
}

/**
 * Node's fetch under the rules of a browser for another origin (the CORS protocol of the Fetch standard): it
 * sends a preflight first, and shows only exposed headers.
 */
export function pageOf(origin: string): Page {
  const sent: { method: string; url: URL }[] = [];

  async function send(request: Request): Promise<Response> {
    sent.push({ method: request.method, url: new URL(request.url) });
    const reply = await globalThis.fetch(request);
    if (
      !listItems(reply, "access-control-allow-origin").some(
        (allowed) => allowed === origin.toLowerCase() || allowed === "*",
      )
    )
      throw new TypeError(`Failed to fetch: ${origin} is not allowed`);
    return reply;
  }

  async function preflight({ method, url, headers }: Request): Promise<void> {
    const names = [...headers.keys()].filter((name) => !isSafe(name, headers)).toSorted();
    if (names.length === 0 && safeMethods.includes(method)) return;
    const preflightHeaders = {
      origin,
      "access-control-request-method": method,
      "access-control-request-headers": names.join(","),
    };
    const reply = await send(new Request(url, { method: "OPTIONS", headers: preflightHeaders }));
    const allowed = listItems(reply, "access-control-allow-headers");
    const missing = names.filter(
      (name) => !allowed.includes(name) && (name === "authorization" || !allowed.includes("*")),
    );
    const methods = [...safeMethods, ...listItems(reply, "access-control-allow-methods")];
    if (!reply.ok || missing.length > 0 || !methods.some((name) => name.toUpperCase() === method))
      throw new TypeError(
        `Failed to fetch: the preflight of ${method} gave ${reply.status}, without ${missing}`,
      );
  }

  return {
    sent,
    async fetch(input, init) {
      const request = new Request(input, init);
      await preflight(request);
      request.headers.set("origin", origin);
      const reply = await send(request);
      const exposed = [...safeReplies, ...listItems(reply, "access-control-expose-headers")];
      const headers = [...reply.headers].filter(([name]) => exposed.includes(name));
      return new Response(reply.body, { status: reply.status, headers });
    },
  };
}

const safeMethods = ["GET", "HEAD", "POST"];
const safeRequests = ["accept", "accept-language", "content-language", "range"];
const safeReplies = [
  "cache-control",
  "content-language",
  "content-length",
  "content-type",
  "expires",
  "last-modified",
  "pragma",
];
const safeTypes = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

const isSafe = (name: string, headers: Headers): boolean =>
  name === "content-type" ? safeTypes.includes(headers.get(name) ?? "") : safeRequests.includes(name);

/** The items of a list header, in lower case. */
export const listItems = ({ headers }: Response, name: string): string[] =>
  (headers.get(name) ?? "").split(",").map((item) => item.trim().toLowerCase());
