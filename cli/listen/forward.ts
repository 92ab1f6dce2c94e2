import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { request as requestSecurely, Agent as SecureAgent } from "node:https";
import { lookupOf, type Target } from "./target.ts";

/** How the receiver answered. */
export interface Forwarded {
  readonly status?: number;
  /** Why there was no answer. */
  readonly failure?: string;
  readonly latency_ms: number;
}

/** One event, with the headers of a request to a webhook. */
export interface Forwardable {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The time limit of a request with its answer, and the bytes of an answer that are read. */
const answerMs = 30_000;
const bodyMax = 64 * 1024;

/** The headers of a delivery. No other header of the server reaches the receiver. */
const delivered = /^(webhook-.*|x-webhook-.*|content-type|user-agent|accept|accept-encoding)$/;

/**
 * Creates the function that forwards events. It follows no redirect, uses no proxy, and sends no header but
 * those of the delivery. It never throws.
 */
export function forwarder(
  target: Target,
  now: () => number,
  signal: AbortSignal,
): (event: Forwardable) => Promise<Forwarded> {
  const { url } = target;
  const settings = { keepAlive: true, lookup: lookupOf(target) };
  const isSecure = url.protocol === "https:";
  const agent = isSecure ? new SecureAgent(settings) : new Agent(settings);
  signal.addEventListener("abort", () => agent.destroy(), { once: true });
  return async ({ body, headers }) => {
    const began = now();
    const latency = () => Math.max(0, now() - began);
    const bytes = Buffer.from(body);
    const passed = Object.fromEntries(
      Object.entries(headers).filter(([name]) => delivered.test(name.toLowerCase())),
    );
    const limit = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
    try {
      const options = {
        method: "POST",
        agent,
        headers: { ...passed, "content-length": bytes.length },
        signal: limit,
      };
      const sent = isSecure ? requestSecurely(url, options) : request(url, options);
      // An error after the answer changes nothing.
      sent.on("error", () => undefined).end(bytes);
      const answer: IncomingMessage = (await once(sent, "response"))[0];
      const latencyMs = latency();
      await dropBody(answer);
      return { status: answer.statusCode ?? 0, latency_ms: latencyMs };
    } catch (thrown) {
      return {
        failure: limit.aborted && !signal.aborted ? "no answer within 30 s" : failureText(thrown),
        latency_ms: latency(),
      };
    }
  };
}

/** Reads the body, so that the receiver can send it and the connection can be used again, up to a limit. */
async function dropBody(answer: IncomingMessage): Promise<void> {
  let length = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > bodyMax) return void answer.destroy();
    }
  } catch {
    // The status has arrived, which is all that counts.
  }
}

/** An error of a connection as one line: Node's codes of TLS name what is wrong with the certificate. */
function failureText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const code = "code" in thrown ? String(thrown.code) : "";
  if (/CERT|SIGNATURE|ISSUER|SELF_SIGNED|ALTNAME/.test(code))
    return `the certificate is not trusted: ${thrown.message} (${code})`;
  // Errors of several addresses have no message.
  return thrown.message || code;
}
