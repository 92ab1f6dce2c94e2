import type { ServerResponse } from "node:http";

/** Aborted when the client has gone away, or has its answer. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  // A reason of its own: without one every call would make an error, with its stack.
  response.once("close", () => gone.abort("closed"));
  return gone.signal;
}
