import { type DescMessage, fromJson, type JsonValue, type MessageShape } from "@bufbuild/protobuf";
import type { Clock } from "../../../core/clock.ts";
import { isObject, parseJson } from "../../../core/json.ts";
import { type StreamResponse, StreamResponseSchema } from "../../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { readEvents } from "./event-stream.ts";
import { AgentFault } from "./fault.ts";

export interface ClientParts {
  readonly url: string;
  readonly tenant: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly idleSeconds: number;
  readonly clock: Pick<Clock, "sleep">;
  /** It guards the address. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly signal: AbortSignal;
}

/** The methods of an agent by JSON-RPC (A2A 1.0, 9). Each throws AgentFault, or the reason of the signal. */
export interface A2aClient {
  call<T extends DescMessage>(method: string, params: JsonValue, output: T): Promise<MessageShape<T>>;
  stream(method: string, params: JsonValue): AsyncGenerator<StreamResponse>;
}

const jsonMax = 64 * 1_048_576;

export function createA2aClient({
  url,
  tenant,
  headers,
  idleSeconds,
  clock,
  fetch,
  signal,
}: ClientParts): A2aClient {
  /** Waits for a step of an answer, for at most `idleSeconds`. */
  async function inTime<T>(work: Promise<T>): Promise<T> {
    const done = new AbortController();
    const late = clock.sleep(idleSeconds * 1000, AbortSignal.any([signal, done.signal])).then(
      () => Promise.reject(new AgentFault("it did not answer in time", { isLost: true })),
      () => new Promise<never>(() => undefined),
    );
    try {
      return await Promise.race([work, late]);
    } catch (thrown) {
      signal.throwIfAborted();
      if (thrown instanceof AgentFault) throw thrown;
      throw new AgentFault("the connection failed", { isLost: true });
    } finally {
      done.abort();
      work.catch(() => undefined);
    }
  }

  async function post(method: string, params: JsonValue, accept: string): Promise<Response> {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: "1",
      method,
      params: { ...(tenant !== "" && { tenant }), ...Object(params) },
    });
    const sent = { ...headers, accept, "content-type": "application/json", "a2a-version": "1.0" };
    const answer = await inTime(fetch(url, { method: "POST", headers: sent, body, signal }));
    if (answer.status === 429 || answer.status >= 500) throw await refused(answer, { isLost: true });
    if (answer.status !== 200) throw await refused(answer, { isLost: false });
    return answer;
  }

  async function refused(answer: Response, how: { isLost: boolean }): Promise<AgentFault> {
    await answer.body?.cancel();
    return new AgentFault(`it answered with HTTP ${answer.status}`, how);
  }

  const readJson = async (answer: Response): Promise<JsonValue> => resultIn(await inTime(answer.text()));

  return {
    async call(method, params, output) {
      return messageIn(output, await readJson(await post(method, params, "application/json")));
    },
    async *stream(method, params) {
      const answer = await post(method, params, "text/event-stream, application/json");
      const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
      if (!isStream || answer.body === null)
        return void (yield messageIn(StreamResponseSchema, await readJson(answer)));
      for await (const data of readEvents(answer.body, inTime, jsonMax))
        yield messageIn(StreamResponseSchema, resultIn(data));
    },
  };
}

/** The result of an answer of JSON-RPC. @throws AgentFault with the text of an error. */
function resultIn(text: string): JsonValue {
  const answer = parseJson(text);
  if (!isObject(answer)) throw strange();
  const { result, error } = answer as { result?: JsonValue; error?: JsonValue };
  if (isObject(error)) {
    const { code, message } = error as { code?: JsonValue; message?: JsonValue };
    throw new AgentFault(`it refused: ${String(message).slice(0, 500)} (${String(code).slice(0, 20)})`, {
      isLost: false,
    });
  }
  if (result === undefined) throw strange();
  return result;
}

function messageIn<T extends DescMessage>(schema: T, json: JsonValue): MessageShape<T> {
  try {
    return fromJson(schema, json, { ignoreUnknownFields: true });
  } catch {
    throw strange();
  }
}

const strange = (): AgentFault => new AgentFault("its answer is not one of A2A 1.0", { isLost: false });
