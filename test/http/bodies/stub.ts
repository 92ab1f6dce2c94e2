import type { AddressInfo } from "node:net";
import { create } from "@bufbuild/protobuf";
import { systemClock } from "../../../src/core/clock.ts";
import { systemIds } from "../../../src/core/ids.ts";
import { type FrontOptions, httpFront } from "../../../src/http/front.ts";
import { addressReader, requestReader } from "../../../src/http/request.ts";
import { httpServer } from "../../../src/http/server.ts";
import type { Admission, Request } from "../../../src/pipeline/admission.ts";
import { type Operation, operationTable } from "../../../src/pipeline/operations.ts";
import type { Performer } from "../../../src/pipeline/perform.ts";

export const bodyLimit = 1024 ** 2;

/**
 * A server of all wire forms whose calls do nothing: `x-service-api-key` is the name of the caller's account.
 */
export async function openStub(
  options: FrontOptions,
  performer: Partial<Performer> = {},
  anonymous = async (): Promise<void> => undefined,
  spend?: (bytes: number) => Promise<void>,
) {
  const letIn = letInWith(spend);
  const trustProxy = "x-forwarded-for";
  const front = httpFront({ addressOf: addressReader(trustProxy), ...options });
  const app = httpServer({
    front,
    operations: operationTable(),
    admit: async (operation, request) => letIn(operation, request),
    admitAnonymous: async (operation, request) => letIn(operation, request),
    anonymous,
    performer: {
      perform: async ({ operation }) => ({ answer: create(operation.method.output), isReplayed: false }),
      recorded: async () => null,
      reserve: () => undefined,
      stream: async () => null,
      converse: () => never(),
      ...performer,
    },
    readRequest: requestReader(systemIds.request, trustProxy),
    readSession: () => null,
    clock: systemClock,
    readiness: { checkReady: async () => true, leaving: front.draining },
    bodyLimit,
    profiles: [],
    uploads: { receive: () => never() },
    watchLinks: { create: () => never(), read: () => null },
    auditLinks: { create: () => never(), read: () => null },
    blobs: { read: () => never(), write: () => never(), delete: () => never() } as never,
    store: { files: never } as never,
    baseUrl: "http://stub.test",
    hsts: false,
    responsesStatus: "platform",
    corsOrigins: [],
    conversationsOnly: false,
    report: () => undefined,
    errorPages: "http://stub.test/errors",
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo; // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    front,
    [Symbol.asyncDispose]: () => front.drain(0).then(() => app.close()),
  };
}

const letInWith =
  (spend?: (bytes: number) => Promise<void>) =>
  (operation: Operation, request: Request): Admission => {
    const [accountId = ""] = request.credentials.keys;
    const caller: Admission["caller"] = {
      accountId,
      spaceId: "space",
      credential: { kind: "key", keyKind: "general", id: "key", scopes: null },
      role: null,
      locale: "en",
    };
    if (accountId !== "") request.body?.assignTo(accountId, spend);
    return { operation, request, caller, rate: null, checkAgain: async () => caller };
  };

function never(): never {
  throw new Error("not asked");
}
