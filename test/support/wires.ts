import type { DescService } from "@bufbuild/protobuf";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";

/** The RPC wire forms; v2 has its own caller. */
export const rpcWires = ["connect-json", "connect-binary", "grpc", "grpc-web"] as const;
export type RpcWire = (typeof rpcWires)[number];

/** A transport of one wire form; headers go with every call. */
export function transportOf(
  wire: RpcWire,
  baseUrl: string,
  headers: Readonly<Record<string, string>>,
): Transport {
  const addHeaders: Interceptor = (next) => (request) => {
    for (const [name, value] of Object.entries(headers)) request.header.set(name, value);
    return next(request);
  };
  const options = { baseUrl, interceptors: [addHeaders] };
  switch (wire) {
    case "connect-json":
      return createConnectTransport({ ...options, httpVersion: "1.1", useBinaryFormat: false });
    case "connect-binary":
      return createConnectTransport({ ...options, httpVersion: "2", useBinaryFormat: true });
    case "grpc":
      return createGrpcTransport(options);
    case "grpc-web":
      return createGrpcWebTransport({ ...options, httpVersion: "1.1" });
  }
}

/** A client of a service over one wire form. */
export const clientOf = <S extends DescService>(
  service: S,
  wire: RpcWire,
  baseUrl: string,
  headers: Readonly<Record<string, string>>,
): Client<S> => createClient(service, transportOf(wire, baseUrl, headers));

/** A v2 answer as received: status, headers, and the body as JSON. */
export interface V2Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: V2Body;
}

/** `error` of a refusal. */
interface V2Error {
  readonly code: string;
  readonly message: string;
  readonly type?: string;
  readonly param?: string;
  readonly doc_url?: string;
  readonly details?: readonly { readonly param?: string; readonly message: string }[];
}

/** The envelope, and the members next to it. */
export interface V2Body {
  readonly ok: boolean;
  readonly request_id: string;
  readonly error?: V2Error;
  readonly warnings?: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: an answer is read as the client sees it, member by member
  readonly [member: string]: any;
}

export interface V2Call {
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: string;
  /** Sent unchanged, instead of `body` as JSON. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
}

/** The envelope is the complete body, or the data of a stream's last frame. */
const envelopeIn = (body: string): string =>
  body.startsWith(":") ? body.slice(body.lastIndexOf("\ndata: ") + "\ndata: ".length) : body;

/** Whether the stream of an operation stays open until its caller leaves; by RPC or by name. */
export const staysOpen = (operation: string): boolean =>
  /^webhook\.(listen|v2\.WebhookService\/ListenWebhook)$/.test(operation);

/** The first event of a stream, which is left then, as if the stream had ended with it. */
async function beginningOf(reply: Response): Promise<string> {
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.endsWith("\n\n") || text === ":\n\n") text += (await reader?.read())?.value ?? "\n\n";
  await reader?.cancel();
  return `${text.trimEnd()}\n\nevent: end\ndata: ${JSON.stringify({ ok: true, request_id: reply.headers.get("x-request-id") })}`;
}

/** Calls a v2 operation over a real socket; a stream is read to its end, or to its first event. */
export async function callV2(
  baseUrl: string,
  name: string,
  body: unknown,
  { headers = {}, method = "POST", raw }: V2Call = {},
): Promise<V2Reply> {
  const query =
    method === "GET" && body !== undefined ? `?${new URLSearchParams(body as Record<string, string>)}` : "";
  const sent = method === "GET" ? null : (raw ?? JSON.stringify(body));
  const reply = await fetch(`${baseUrl}/v2/${name}${query}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: sent,
  });
  const text = reply.ok && staysOpen(name) ? await beginningOf(reply) : await reply.text();
  return { status: reply.status, headers: reply.headers, body: JSON.parse(envelopeIn(text)) as V2Body };
}
