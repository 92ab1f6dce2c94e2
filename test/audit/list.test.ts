import { afterAll, beforeAll, expect, test } from "vitest";
import { sealer } from "../../src/core/audit/seal.ts";
import { AuditService } from "../../src/gen/proto/audit/v2/audit_service_pb.ts";
import { sampleAudit, sampleRefusal } from "../store/samples.ts";
import { describeOnOne, storeOfSuite } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";

type Line = Readonly<Record<string, unknown>>;
const noon = 1_790_000_040;

describeOnOne("audit.list", (kind) => {
  const database = storeOfSuite(kind);
  let service: Service;
  beforeAll(async () => {
    // No maintenance runs in between: the test decides when rows are sealed.
    service = await openService({ over: database, idle: true });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  /** A person with six rows, one second apart; the last one is a refusal. */
  async function withLog(): Promise<Person> {
    const owner = await service.person();
    const { spaceId, accountId } = owner;
    await service.store.change(async (tx) => {
      for (let n = 0; n < 5; n += 1) {
        const what = {
          subject: `task-${n % 2}`,
          requestId: `req_${n}`,
          before: { n },
          after: { deep: { n } },
        };
        await tx.audit.insert(
          sampleAudit({ id: `${spaceId}-${n}`, spaceId, accountId, at: (noon + n) * 1000, ...what }),
        );
      }
      const refused = {
        spaceId,
        accountId,
        credential: "token:t",
        operation: "task.v2.TaskService/GetTask",
        count: 7,
      };
      await tx.audit.addRefusals([sampleRefusal({ id: `${spaceId}-5`, at: (noon + 5) * 1000, ...refused })]);
    });
    return owner;
  }

  const listLines = async (person: Person, body: object = {}): Promise<Line[]> => {
    const reply = await person.v2("audit.list", body);
    expect(reply.body.error ?? "ok").toBe("ok");
    return reply.body["data"];
  };
  const numbers = async (person: Person, body: object = {}) =>
    (await listLines(person, body)).map(({ id }) => Number(String(id).split("-")[1]));

  test("lists all rows of a space's log, newest first, with the change and, once sealed, the sequence number", async () => {
    const owner = await withLog();
    expect(await numbers(owner)).toEqual([5, 4, 3, 2, 1, 0]);
    await sealer(service.store, { now: () => noon * 2_000 })(new AbortController().signal);
    const [refused, done] = await listLines(owner);
    expect(done).toEqual({
      ...{
        id: `${owner.spaceId}-4`,
        at: (noon + 4) * 1000,
        space_id: owner.spaceId,
        account_id: owner.accountId,
        credential: "key:k",
      },
      ...{
        operation: "task.v2.TaskService/DeleteTask",
        request_id: "req_4",
        address: "127.0.0.1",
        subject: "task-0",
      },
      ...{
        before: { n: 4 },
        after: { deep: { n: 4 } },
        outcome: "done",
        reason: null,
        count: 1,
        seq: 5,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    expect(refused).toMatchObject({
      outcome: "refused",
      reason: "forbidden",
      count: 7,
      subject: null,
      before: null,
      after: null,
      seq: 6,
    });
  });

  test("an unsealed row has null as its sequence number", async () => {
    const owner = await service.person();
    await service.store.change((tx) =>
      tx.audit.addRefusals([
        sampleRefusal({ id: `${owner.spaceId}-0`, spaceId: owner.spaceId, at: Date.now() }),
      ]),
    );
    expect(await listLines(owner)).toMatchObject([{ seq: null, hash: null }]);
  });

  test.each([
    { why: "from a start time", filter: { start_time: noon + 3 }, found: [5, 4, 3] },
    { why: "before an end time", filter: { end_time: noon + 2 }, found: [1, 0] },
    { why: "of a credential", filter: { credential: "token:t" }, found: [5] },
    { why: "of an operation by its RPC", filter: { operation: "task.v2.TaskService/GetTask" }, found: [5] },
    { why: "of operations by their v2 name", filter: { operation: "task.delete" }, found: [4, 3, 2, 1, 0] },
    {
      why: "of operations that begin with a text",
      filter: { operation_prefix: "task.v2.TaskService/Get" },
      found: [5],
    },
    {
      why: "of operations that begin with a text without wildcards",
      filter: { operation_prefix: "task_v2" },
      found: [],
    },
    { why: "that were refused", filter: { outcome: "refused" }, found: [5] },
    { why: "that were done", filter: { outcome: "done", order: "asc" }, found: [0, 1, 2, 3, 4] },
    { why: "of a subject", filter: { subject: "task-1" }, found: [3, 1] },
    { why: "of a request", filter: { request_id: "req_2" }, found: [2] },
    { why: "of another account", filter: { account_id: "somebody" }, found: [] },
    {
      why: "from a time whose milliseconds exceed the number range",
      filter: { start_time: 9_007_199_254_740_991 },
      found: [],
    },
    { why: "under an empty filter", filter: { subject: "", operation: "" }, found: [5, 4, 3, 2, 1, 0] },
  ])("lists only rows $why", async ({ filter, found }) => {
    const owner = await withLog();
    expect(await numbers(owner, { ...filter })).toEqual(found);
  });

  test.each(["asc", "desc"])("continues by cursor, every row once (%s)", async (order) => {
    const owner = await withLog();
    const ids: unknown[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await owner.v2("audit.list", { order, limit: 2, ...(cursor ? { cursor } : {}) });
      expect(body["has_more"]).toBe(body["next_cursor"] !== undefined);
      ids.push(...body["data"].map(({ id }: Line) => Number(String(id).split("-")[1])));
      cursor = body["next_cursor"];
    } while (cursor !== undefined);
    expect(ids).toEqual(order === "asc" ? [0, 1, 2, 3, 4, 5] : [5, 4, 3, 2, 1, 0]);
    const { body } = await owner.v2("audit.list", { limit: 2 });
    const other = await owner.v2("audit.list", { limit: 2, outcome: "done", cursor: body["next_cursor"] });
    expect([other.status, other.body.error?.message]).toEqual([400, "cursor: is not a cursor of this list"]);
  });

  test("has the present names of accounts, keys and projects next to the entries, and none of another space (spec/api.md 8.65)", async () => {
    const owner = await service.person();
    const { accountId, spaceId, keyId } = owner;
    const { body } = await owner.v2("project.create", { name: "Garden" });
    const elsewhere = await service.person();
    const foreign = await elsewhere.v2("project.create", { name: "Secret" });
    await service.store.change((tx) =>
      tx.audit.insert(
        sampleAudit({
          id: `${spaceId}-x`,
          spaceId,
          accountId: elsewhere.accountId,
          subject: foreign.body["project"].id,
        }),
      ),
    );
    const answer = (await owner.v2("audit.list", { order: "desc" })).body;
    expect(answer["names"]).toEqual([
      { id: accountId, kind: "account", name: expect.stringContaining("@example.com") },
      { id: keyId, kind: "key", name: expect.any(String) },
      { id: body["project"].id, kind: "project", name: "Garden" },
    ]);
    for (const line of answer["data"]) expect(line).not.toHaveProperty("names");
  });

  test("does not show another team's log", async () => {
    await withLog();
    expect(await listLines(await service.person())).toEqual([]);
  });

  test.each([
    { role: "owner", let: true },
    { role: "super_admin", let: true },
    { role: "admin", let: false },
    { role: "member", let: false },
    { role: "guest", let: false },
  ] as const)("role $role is admitted: $let, with a key and in a session", async ({ role, let: isLet }) => {
    const owner = await service.person();
    const person = role === "owner" ? owner : await service.person({ with: owner, role });
    expect((await person.v2("audit.list")).status).toBe(isLet ? 200 : 403);
    const session = (await person.session()).client(AuditService).listAuditEvents({});
    if (isLet) expect((await session).hasMore).toBe(false);
    else await expect(session).rejects.toThrow("signed-in session of the team's owner or super admin");
  });

  test("refuses every enterprise key, and personal spaces", async () => {
    const owner = await service.person();
    for (const key of ["siem", "ediscovery", "team_user_mgmt"] as const)
      expect(
        (await (await service.person({ as: owner, with: owner, kind: key })).v2("audit.list")).status,
      ).toBe(403);
    expect((await (await service.person({ personal: true })).v2("audit.list")).status).toBe(403);
  });
});
