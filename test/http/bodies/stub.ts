import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import type { Admission, Request } from "../../../src/call/admit.ts";
import type { Performer } from "../../../src/call/perform.ts";
import { systemClock } from "../../../src/core/clock.ts";
import type { FrontOptions } from "../../../src/http/front.ts";
import { httpFront } from "../../../src/http/front.ts";
import { addressReader, requestReader } from "../../../src/http/request.ts";
import { httpServer } from "../../../src/http/server.ts";
import { type Operation, operationTable } from "../../../src/operations.ts";

export const bodyLimit = 1024 ** 2;

/** A server of all wire forms whose calls do nothing: `x-service-api-key` is the name of the caller's account. */
export async function openStub(options: FrontOptions, performer: Partial<Performer> = {}) {
  const trustProxy = "x-forwarded-for";
  const front = httpFront({ addressOf: addressReader(trustProxy), ...options });
  const app = httpServer({
    front,
    operations: operationTable(),
    admit: async (operation, request) => letIn(operation, request),
    admitAnybody: async (operation, request) => letIn(operation, request),
    anonymous: async () => undefined,
    performer: {
      perform: async ({ operation }) => ({ answer: create(operation.method.output), replayed: false }),
      stream: async () => null,
      converse: () => never(),
      ...performer,
    },
    readRequest: requestReader(() => "req_1", trustProxy),
    readSession: () => null,
    clock: systemClock,
    readiness: { ready: async () => true, leaving: front.draining },
    bodyLimit,
    uploads: { receive: () => never() },
    blobs: { read: () => never(), write: () => never(), delete: () => never() } as never,
    store: { files: never } as never,
    baseUrl: "http://stub.test",
    corsOrigins: [],
    conversationsOnly: false,
    report: () => undefined,
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo; // it listens on TCP
  return { url: `http://127.0.0.1:${port}`, front, [Symbol.asyncDispose]: () => front.drain(0).then(() => app.close()) };
}

function letIn(operation: Operation, request: Request): Admission {
  const [accountId = ""] = request.credentials.keys;
  const caller: Admission["caller"] = {
    accountId,
    spaceId: "space",
    credential: { kind: "key", keyKind: "general", id: "key" },
    role: null,
    locale: "en",
  };
  if (accountId !== "") request.body?.belongsTo(accountId);
  return { operation, request, caller, rate: null, again: async () => caller };
}

function never(): never {
  throw new Error("not asked");
}
