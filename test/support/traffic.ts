// Vitest's setup file: every answer that the platform gives to a test's `fetch`, and every request that it
// accepts, is checked against the documents in api/, so that they cannot say anything else than the server
// does.
import type * as Declared from "./declared.ts";

let declared: Promise<typeof Declared> | undefined;

/** The function of Node, once per process: test files share one, and each runs this file. */
const { fetch: send } = globalThis;

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

async function checkedFetch(...call: Parameters<typeof fetch>): Promise<Response> {
  const reply = await send(...call);
  const [address, { method = "GET", body } = {}] = call;
  // Other servers of tests have no ids of requests.
  if (address instanceof Request || !reply.headers.get("x-request-id")?.startsWith("req_")) return reply;
  // Only tests have a server without some operations.
  if (reply.status === 501) return reply;
  declared ??= import("./declared.ts");
  const { differenceOf, mustBeDeclared, operationFor, UndeclaredAnswer } = await declared;
  const url = new URL(address);
  const operation = operationFor(method, url);
  if (operation === undefined) {
    if (reply.ok && mustBeDeclared(method, url))
      throw new UndeclaredAnswer(`${method} ${url.pathname} is not declared (api/)`);
    return reply;
  }
  const isJson = reply.headers.get("content-type")?.startsWith("application/json") === true;
  const received = isJson ? jsonOf(await reply.clone().text()) : undefined;
  const sent = typeof body === "string" ? jsonOf(body) : undefined;
  const difference = differenceOf(operation, {
    method,
    url,
    sent,
    status: reply.status,
    headers: reply.headers,
    received,
  });
  if (difference !== undefined) throw new UndeclaredAnswer(`${method} ${url.pathname}: ${difference} (api/)`);
  return reply;
}

if (send.name !== checkedFetch.name) globalThis.fetch = checkedFetch;
