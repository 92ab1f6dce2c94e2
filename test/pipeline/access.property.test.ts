import fc from "fast-check";
import { expect, test } from "vitest";
import { rightsOf } from "../../cli/rights.ts";
import type { AnswerOf } from "../../packages/client/src/index.ts";
import { type Role, roles } from "../../src/core/accounts/account.ts";
import { type Caller, type CallerCredential, keyKinds, scopeNames } from "../../src/core/accounts/caller.ts";
import { keyScopes } from "../../src/core/accounts/key-scopes.ts";
import { mayCall, type Rights } from "../../src/pipeline/access.ts";
import type { Request } from "../../src/pipeline/admission.ts";
import { createAdmit } from "../../src/pipeline/admit.ts";
import type { Limits } from "../../src/pipeline/limit.ts";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { selectTools } from "../../src/protocols/mcp/tools/selection.ts";
import { sample, seed } from "../support/depth.ts";

const operations = operationTable().all.filter(({ access }) => access !== null);
const id = "x";

const credential: fc.Arbitrary<CallerCredential> = fc.oneof(
  fc.record({
    kind: fc.constant("key" as const),
    keyKind: fc.oneof(
      { weight: 3, arbitrary: fc.constant("general" as const) },
      { weight: 1, arbitrary: fc.constantFrom(...keyKinds) },
    ),
    id: fc.constant(id),
    scopes: fc.option(fc.subarray([...keyScopes])),
  }),
  fc.record({
    ...{
      kind: fc.constant("token" as const),
      id: fc.constant(id),
      clientId: fc.constant(id),
      resource: fc.constant(null),
    },
    ...{ scopes: fc.subarray([...scopeNames]), connectorUids: fc.constant([]), service: fc.boolean() },
  }),
  fc.record({
    ...{
      kind: fc.constant("session" as const),
      id: fc.constant(id),
      provedAt: fc.constant(0),
      expiresAt: fc.constant(0),
    },
    operator: fc.boolean(),
  }),
  fc.constant({ kind: "worker" as const, id, profiles: [], labels: [] }),
);

const caller: fc.Arbitrary<Caller> = fc
  .record({ credential, role: fc.option(fc.constantFrom(...roles)), isInProjects: fc.boolean() })
  .map(({ credential: own, role, isInProjects }) => ({
    ...{ accountId: id, spaceId: id, credential: own, role, locale: "en" },
    within: isInProjects && own.kind === "key" ? { projectIds: [], apiKeyId: id } : undefined,
  }));

const request: Request = {
  ...{ requestId: id, address: id, idempotencyKey: null, isStrict: false },
  credentials: { keys: [], bearer: null, session: null },
};

const none = async () => null;
// Only these members of the limits are used for an operation that needs a credential.
const limits = { account: none } as Partial<Limits> as Limits;

/** The operations to which a caller is admitted. */
async function admitted(of: Caller): Promise<readonly Operation[]> {
  const admit = createAdmit(
    async () => of,
    limits,
    () => undefined,
    { note: () => undefined },
  );
  const answers = await Promise.allSettled(operations.map((operation) => admit(operation, request)));
  return operations.filter((_, nth) => answers[nth]?.status === "fulfilled");
}

/** The operations of a caller's tools. */
const toolsOf = (rights: Rights): readonly string[] =>
  [...new Set(selectTools("all", rights).map(({ operation }) => operation))].toSorted();

/** What user.me answers a caller. */
const answerTo = ({ credential: own, role, within }: Caller): AnswerOf<"user.me"> => ({
  ...{ ok: true, request_id: id, message: "ok", user_id: id, space: { id } },
  credential_kind: own.kind === "token" ? "token" : "key",
  ...("scopes" in own && own.scopes !== null && { scopes: own.scopes }),
  ...(within && { project_ids: within.projectIds }),
  ...(own.kind !== "token" &&
    role !== null && { role: `TEAM_MEMBER_ROLE_${role.toUpperCase() as Uppercase<Role>}` }),
});

test("over all operations and many callers: what is listed is what is admitted, for tools here and behind `atp mcp`", {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(caller, async (of) => {
      const reached = await admitted(of);
      expect(operations.filter((operation) => mayCall(operation, of))).toEqual(reached);
      const { credential: own } = of;
      const isGeneral = own.kind === "token" || (own.kind === "key" && own.keyKind === "general");
      if (!isGeneral) return;
      // Only a token with a scope that no operation shares has the decision as a tool.
      const names = reached.flatMap(({ name, method, rpc }) =>
        name !== null && (method.methodKind === "unary" || rpc.endsWith("/WatchTask")) ? [name] : [],
      );
      const decides = own.kind === "token" && own.scopes.includes("approve:task");
      expect(toolsOf(of)).toEqual(
        names.filter((name) => name !== "task.confirmAction" || decides).toSorted(),
      );
      if (own.kind === "key" || !own.service) expect(toolsOf(rightsOf(answerTo(of)))).toEqual(toolsOf(of));
    }),
    { numRuns: sample(2_000, 200), seed },
  );
});
