import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { A2AService } from "../../src/gen/proto/lf/a2a/v1/a2a_pb.ts";
import type { Wire } from "./call.ts";

type Headers = Readonly<Record<string, string>>;

/**
 * How A2A answers a request for a task that does not exist: `admitted`, or the reason of the refusal. Each
 * wire has its binding.
 */
export function askA2a(url: string, wire: Wire, credential: Headers): Promise<string> {
  const headers = { ...credential, "a2a-version": "1.0" };
  if (wire === "grpc") return overGrpc(url, headers);
  return wire === "v2" ? overHttp(url, headers) : overJsonRpc(url, headers);
}

async function overGrpc(url: string, headers: Headers): Promise<string> {
  const client = createClient(A2AService, createGrpcTransport({ baseUrl: url }));
  try {
    await client.listTasks({ contextId: "none" }, { headers });
    return "admitted";
  } catch (thrown) {
    return Code[ConnectError.from(thrown).code].replace(/(?!^)[A-Z]/g, "_$&").toLowerCase();
  }
}

async function overHttp(url: string, headers: Headers): Promise<string> {
  const answer = await fetch(`${url}/a2a/tasks?contextId=none`, { headers });
  return outcomeOf((await errorIn(answer))?.status);
}

async function overJsonRpc(url: string, headers: Headers): Promise<string> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks", params: { contextId: "none" } });
  const answer = await fetch(`${url}/a2a`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body,
  });
  return outcomeOf((await errorIn(answer))?.data?.[0]?.reason);
}

/** The same for a configuration of push notifications of a task that does not exist. */
export async function askPush(url: string, credential: Headers): Promise<string> {
  const params = { taskId: "none", url: "https://hooks.example/" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "CreateTaskPushNotificationConfig", params });
  const headers = { ...credential, "a2a-version": "1.0", "content-type": "application/json" };
  const outcome = outcomeOf(
    (await errorIn(await fetch(`${url}/a2a`, { method: "POST", headers, body })))?.data?.[0]?.reason,
  );
  return outcome === "task_not_found" ? "admitted" : outcome;
}

interface ErrorBody {
  readonly status?: string;
  readonly data?: readonly { readonly reason: string }[];
}

const errorIn = async (answer: Response): Promise<ErrorBody | undefined> =>
  ((await answer.json()) as { readonly error?: ErrorBody }).error; // The body of an answer of A2A.

const outcomeOf = (reason: string | undefined): string =>
  reason === undefined ? "admitted" : reason === "INVALID_PARAMS" ? "invalid_argument" : reason.toLowerCase();
