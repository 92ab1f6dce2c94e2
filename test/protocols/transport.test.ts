import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clientOver } from "../../packages/client/src/index.ts";
import { Failure } from "../../src/core/failure.ts";
import type { Request } from "../../src/pipeline/admission.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import type { Performer } from "../../src/pipeline/perform.ts";
import { callsOf } from "../../src/protocols/shared/calls.ts";
import { inProcessTransport } from "../../src/protocols/shared/transport.ts";

const request: Request = {
  ...{ requestId: "call-1", address: "192.0.2.1", idempotencyKey: "of the request", isStrict: false },
  credentials: { keys: [], bearer: null, session: null },
};

/** A client in the process whose calls are refused at admission, and the requests that came there. */
function refusedClient() {
  const seen: Request[] = [];
  const parts = {
    operations: operationTable(),
    admit: async (_: unknown, admitted: Request) => {
      seen.push(admitted);
      throw new Failure("unavailable", "the server is busy", { retryAfter: 1 });
    },
    performer: {} as Performer, // No call reaches it.
    report: () => undefined,
  };
  return {
    seen,
    client: clientOver(inProcessTransport(callsOf(parts, request), new AbortController().signal)),
  };
}

describe("a client of operations in the process", () => {
  beforeEach(
    () => void Object.assign(process.env, { ATP_KEY: "sk-of-the-server", ATP_URL: "http://127.0.0.1:1" }),
  );
  afterEach(() => {
    delete process.env["ATP_KEY"];
    delete process.env["ATP_URL"];
  });

  test.each([
    [
      "a change",
      (client: ReturnType<typeof clientOver>) => client.call("task.create", { message: { content: "hi" } }),
    ],
    [
      "a read over RPC",
      (client: ReturnType<typeof clientOver>) => client.rpc("file.v2.FileService/ListFiles"),
    ],
    ["a watch", (client: ReturnType<typeof clientOver>) => client.tasks.watch("a").next()],
  ])("makes %s once, with the credential of its request: no key of the environment, no repeat, no idempotency key", async (_, call) => {
    const { seen, client } = refusedClient();
    await expect(call(client)).rejects.toMatchObject({
      code: "unavailable",
      status: 503,
      retryAfter: 1,
      requestId: "call-1",
    });
    expect(seen).toEqual([{ ...request, idempotencyKey: null }]);
  });

  test("passes the idempotency key of a call on", async () => {
    const { seen, client } = refusedClient();
    await expect(
      client.call("task.stop", { task_id: "a" }, { idempotencyKey: "mine" }),
    ).rejects.toMatchObject({ code: "unavailable" });
    expect(seen).toMatchObject([{ idempotencyKey: "mine" }]);
  });
});
