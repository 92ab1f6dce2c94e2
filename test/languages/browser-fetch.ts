/** A page of some origin. */
export interface Page {
  /** As the page's `fetch`. @throws TypeError where a browser would not let the page call, or read. */
  readonly fetch: typeof globalThis.fetch;
  /** What went out, in order; preflights as `OPTIONS`. */
  readonly sent: readonly { readonly method: string; readonly url: URL }[];
}

/**
 * Node's fetch under the rules of a browser for another origin (the CORS protocol of
 * the Fetch standard): it asks before it calls, and shows only what is exposed.
 */
export function pageOf(origin: string): Page {
  const sent: { method: string; url: URL }[] = [];

  async function send(request: Request): Promise<Response> {
    sent.push({ method: request.method, url: new URL(request.url) });
    const reply = await globalThis.fetch(request);
    if (!listed(reply, "access-control-allow-origin").some((allowed) => allowed === origin.toLowerCase() || allowed === "*"))
      throw new TypeError(`Failed to fetch: ${origin} is not allowed`);
    return reply;
  }

  async function preflight({ method, url, headers }: Request): Promise<void> {
    const names = [...headers.keys()].filter((name) => !isSafe(name, headers)).toSorted();
    if (names.length === 0 && safeMethods.includes(method)) return;
    const asked = { origin, "access-control-request-method": method, "access-control-request-headers": names.join(",") };
    const reply = await send(new Request(url, { method: "OPTIONS", headers: asked }));
    const allowed = listed(reply, "access-control-allow-headers");
    const missing = names.filter((name) => !allowed.includes(name) && (name === "authorization" || !allowed.includes("*")));
    const methods = [...safeMethods, ...listed(reply, "access-control-allow-methods")];
    if (!reply.ok || missing.length > 0 || !methods.some((name) => name.toUpperCase() === method))
      throw new TypeError(`Failed to fetch: the preflight of ${method} gave ${reply.status}, without ${missing}`);
  }

  return {
    sent,
    async fetch(input, init) {
      const request = new Request(input, init);
      await preflight(request);
      request.headers.set("origin", origin);
      const reply = await send(request);
      const exposed = [...safeReplies, ...listed(reply, "access-control-expose-headers")];
      const headers = [...reply.headers].filter(([name]) => exposed.includes(name));
      return new Response(reply.body, { status: reply.status, headers });
    },
  };
}

const safeMethods = ["GET", "HEAD", "POST"];
const safeRequests = ["accept", "accept-language", "content-language", "range"];
const safeReplies = ["cache-control", "content-language", "content-length", "content-type", "expires", "last-modified", "pragma"];
const safeTypes = ["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];

const isSafe = (name: string, headers: Headers): boolean =>
  name === "content-type" ? safeTypes.includes(headers.get(name) ?? "") : safeRequests.includes(name);

/** The items of a header that is a list, in lower case. */
export const listed = ({ headers }: Response, name: string): string[] =>
  (headers.get(name) ?? "").split(",").map((item) => item.trim().toLowerCase());
