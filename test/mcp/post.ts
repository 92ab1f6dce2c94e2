/** The answer to one message that was sent to /mcp as it is. */
export interface Posted {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The message of JSON-RPC, from JSON or from server-sent events; null for a text without one. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer is read as the client sees it, member by member
  readonly message: Record<string, any> | null;
}

/** Sends a message of a client of any revision: a text, or JSON. */
export async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  message: string | object,
): Promise<Posted> {
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: typeof message === "string" ? message : JSON.stringify(message),
  });
  const text = await answer.text();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    message: data.startsWith("{") ? JSON.parse(data) : null,
  };
}

/** A request of JSON-RPC. */
export const rpc = (method: string, params: object = {}): object => ({
  jsonrpc: "2.0",
  id: 1,
  method,
  params,
});

/** A call of a tool, of a client that shows no forms. */
export const toolCall = (name: string, input: object): object =>
  rpc("tools/call", { name, arguments: input });
