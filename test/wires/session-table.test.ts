import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roles } from "../../src/core/accounts/account.ts";
import { Access_Credential } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { share } from "../support/depth.ts";
import { openService, type Service } from "../support/service.ts";
import { hasSessions, takesSession } from "./access.ts";
import { type Answer, type CallOver, callerOf, pooled, refused, servedBy } from "./call.ts";

const { all } = operationTable();
const accepts = ({ access }: Operation, credential: Access_Credential) =>
  access?.credentials.has(credential) === true;

describe("the table of operations", () => {
  test("gives sessions what general keys of the same person have, except the conversations of the v1 API", () => {
    const keysAlone = all.filter(
      (op) => accepts(op, Access_Credential.API_KEY) && !accepts(op, Access_Credential.SESSION),
    );
    expect(keysAlone.map(({ rpc }) => rpc)).toEqual([
      "task.v2.TaskService/GetConversation",
      "task.v2.TaskService/ListConversations",
    ]);
  });

  test("gives only operators more than the owner of a team has", () => {
    expect(all.filter(({ access }) => access?.operator).map(({ rpc }) => rpc)).toEqual([
      "installation.v1.InstallationService/GetStatus",
      ...["ListModels", "SetModel", "RemoveModel", "TestModel"].map(
        (name) => `installation.v1.ModelService/${name}`,
      ),
    ]);
  });

  test("gives sessions more only for owners, super admins, and what a key must not do", () => {
    const sessionsAlone = all.filter(
      (op) => accepts(op, Access_Credential.SESSION) && !accepts(op, Access_Credential.API_KEY),
    );
    const outside = sessionsAlone.filter(
      ({ rpc, access }) => access?.roles.size === 0 && !access.operator && !rpc.startsWith("settings.v1."),
    );
    expect(outside.map(({ rpc }) => rpc)).toEqual([]);
  });
});

describe("every operation over Connect", () => {
  const wire = "connect-binary";
  let service: Service;
  let call: CallOver;
  beforeAll(async () => {
    service = await openService({ idle: true });
    call = callerOf(service.url);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const refusals: ReadonlySet<string> = new Set([
    refused("unauthenticated", wire),
    refused("permission_denied", wire),
  ]);
  const access = ({ outcome }: Answer): string => (refusals.has(outcome) ? outcome : "admitted");

  // wires/table has all roles over each wire, for a part of the operations.
  test.each(
    share([...roles, null], 0, 3),
  )("is open to a session of the role %s exactly where the table says so", async (role) => {
    const person = await service.person(role === null ? { personal: true } : { role });
    const { headers } = await person.session();
    // Not all at once: a connection has a limit of streams.
    const answers = await pooled(
      servedBy(wire),
      async (operation) => [operation.rpc, access(await call(wire, operation, { headers }))] as const,
    );
    const expected = servedBy(wire).map((operation) => {
      if (!hasSessions(wire, operation)) return [operation.rpc, refused("unauthenticated", wire)];
      // An anonymous operation is open to all callers.
      const isOpen = operation.access === null || takesSession(operation, role);
      return [operation.rpc, isOpen ? "admitted" : refused("permission_denied", wire)];
    });
    expect(Object.fromEntries(answers)).toEqual(Object.fromEntries(expected));
  });
});
