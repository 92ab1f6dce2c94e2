import { describe, expect } from "vitest";
import { postgresTemplate } from "../support/database.ts";
import { sampledTest } from "../support/sampled.ts";
import { openService, type Person, type Service, type ServiceNode } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { callV2, type V2Reply } from "../support/wires.ts";

const test = sampledTest(2);

/** Three processes that only answer calls; the minute of their rate limits does not end. */
const openNodes = (env: Readonly<Record<string, string>> = {}): Promise<Service> =>
  openService({ database: "postgresql", nodes: 3, idle: true, clock: stillClock(quarterPast), env });

const at = (
  node: ServiceNode | undefined,
  { key }: Person,
  name: string,
  body: object = {},
): Promise<V2Reply> => callV2(node?.url ?? "", name, body, { headers: { "x-service-api-key": key } });

const times = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

describe.skipIf(postgresTemplate === undefined)("three nodes on one database", () => {
  test.each([
    ["default", "task.create", 10],
    ["default", "project.create", 40],
    ["default", "project.list", 100],
    ["default", "user.me", 100],
    ["0.25", "project.list", 25],
    ["1.5", "project.list", 150],
    ["2.5", "task.create", 25],
  ])("admitted what RATE_LIMITS %s allows of %s, %i calls a minute over all of them and not one more", async (factor, name, limit) => {
    await using service = await openNodes({ RATE_LIMITS: factor });
    const ann = await service.person();
    const body = name === "task.create" ? { message: { content: "Hi" } } : { name: "Garden" };
    const replies = await times(limit * 2 + 30, () => ann.v2(name, body));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(limit);
    expect(
      replies.filter(({ status, body: { error } }) => status === 429 && error?.code === "rate_limited"),
    ).toHaveLength(limit + 30);
    for (const node of service.nodes)
      expect((await at(node, ann, name, body)).status, "each knows that it is over").toBe(429);
  });

  test("never exceed a limit when one of them receives most of the calls", async () => {
    await using service = await openNodes({ RATE_LIMITS: "default" });
    const ann = await service.person();
    const [one, two, three] = service.nodes;
    const replies = [
      ...(await times(5, () => at(two, ann, "project.list"))),
      ...(await times(120, () => at(one, ann, "project.list"))),
      ...(await times(120, () => at(three, ann, "project.list"))),
    ];
    const letIn = replies.filter(({ status }) => status === 200).length;
    expect(letIn).toBeLessThanOrEqual(100);
    // Only quota that a node has reserved and not used can be missing.
    expect(letIn).toBeGreaterThan(90);
  });

  test("count unauthenticated callers of one address together", async () => {
    await using service = await openNodes({ RATE_LIMITS: "default" });
    const replies = await times(90, () => callV2(service.url, "project.list", {}));
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(60);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(30);
  });

  test("refuse a key as soon as one of them has revoked it", async () => {
    await using service = await openNodes();
    const ann = await service.person();
    for (const node of service.nodes) expect((await at(node, ann, "user.me")).status).toBe(200);
    await service.nodes[1]?.store.change((tx) => tx.keys.revoke(ann.keyId, quarterPast));
    const replies = await Promise.all(service.nodes.map((node) => at(node, ann, "user.me")));
    expect(replies.map(({ status }) => status)).toEqual([401, 401, 401]);
  });

  test("return the same answer for an idempotency key that another answered, and only one of them runs the call", async () => {
    await using service = await openNodes();
    const ann = await service.person();
    const create = () =>
      ann.v2("task.create", { message: { content: "Hi" } }, { headers: { "idempotency-key": "once" } });
    const replies = await times(50, create);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(replies.map(({ body }) => body["task_id"])).size).toBe(1);
    expect(replies.filter(({ headers }) => headers.get("idempotent-replayed") === null)).toHaveLength(1);
    expect((await ann.v2("task.list")).body["data"]).toHaveLength(1);
    const other = await ann.v2(
      "task.create",
      { message: { content: "Bye" } },
      { headers: { "idempotency-key": "once" } },
    );
    expect(other.status).toBe(409);
  });

  test("read at once what one of them wrote", async () => {
    await using service = await openNodes();
    const ann = await service.person();
    for (const [i, node] of service.nodes.entries()) {
      const { body } = await at(node, ann, "task.create", { message: { content: `Number ${i}` } });
      const seen = await Promise.all(
        service.nodes.map((any) => at(any, ann, "task.detail", { task_id: body["task_id"] })),
      );
      expect(seen.map((reply) => reply.body["task"]?.title)).toEqual(service.nodes.map(() => `Number ${i}`));
    }
  });
});
