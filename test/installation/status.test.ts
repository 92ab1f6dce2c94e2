import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roles } from "../../src/core/accounts/account.ts";
import { checksOf } from "../../src/core/installation/checks.ts";
import type { InstallationStatus } from "../../src/core/installation/status.ts";
import { InstallationService } from "../../src/gen/proto/installation/v1/installation_service_pb.ts";
import { StatusCheckState } from "../../src/gen/proto/installation/v1/status_pb.ts";
import { UserService } from "../../src/gen/proto/user/v2/user_service_pb.ts";
import { describeOnOne, openTestStore, rowsIn, type TestStore } from "../support/database.ts";
import { openLocal } from "../support/mcp-server.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { createWorker } from "../workers/worker-rig.ts";

const secret = "zeppelin";

describeOnOne("operator.status", (kind) => {
  let clock: StillClock;
  let database: TestStore;
  let service: Service;
  let operator: Person;
  beforeAll(async () => {
    clock = stillClock();
    database = await openTestStore(kind, { clock });
    const env = { AGENT_PROFILES: "manus-1.6-max=remote", WEBHOOK_ALLOW: "loopback" };
    service = await openService({ over: database, clock, idle: true, env });
    operator = await service.person();
    await service.store.change((tx) => tx.accounts.setOperator(operator.accountId, true));
  });
  afterAll(async () => {
    await service?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  const status = async (who = operator) => (await who.session()).client(InstallationService).getStatus({});
  const codeOf = (call: Promise<unknown>) =>
    call.then(
      () => "admitted",
      (error: unknown) => Code[ConnectError.from(error).code],
    );

  test("counts the work of all spaces, and shows no title, message, name or address", async () => {
    await using receiver = await openLocal((_, response) => void response.end());
    const [ann, bo] = [await service.person(), await service.person()];
    await ann.v2("webhook.create", {
      url: `${receiver.url}/${secret}`,
      name: secret,
      event_types: ["task_created"],
    });
    const create = (who: Person, agent_profile?: string) =>
      who.v2("task.create", {
        message: { content: `Find the ${secret}.` },
        title: secret,
        ...(agent_profile ? { agent_profile } : {}),
      });
    await create(ann);
    await create(bo);
    const { body } = await create(bo, "manus-1.6-max");
    await service.store.change((tx) =>
      tx.tasks.advance(body["task_id"], { now: clock.now(), set: { status: "error" } }),
    );
    await create(bo, "manus-1.6-max");
    await createWorker(service, ann, ["manus-1.6-max"]);
    await service.store.change(async (tx) => {
      const [worker] = await tx.workers.list(ann.spaceId);
      await tx.workers.update(ann.spaceId, worker?.id ?? "", { name: secret });
    });
    await service.store.change(async (tx) => {
      await tx.nodes.insert({
        id: "node-1",
        beat: 0,
        startedAt: clock.now() - 90_000,
        address: "http://node.example",
      });
      await tx.nodes.raiseHeartbeat("node-1", clock.now() - 20_000);
    });
    clock.step(70_000);
    const isOlder = (ms: number) => service.store.installation.isQueueOlder(clock.now() - ms);
    expect([await isOlder(70_000), await isOlder(70_001)]).toEqual([true, false]);

    const {
      nodes,
      profiles,
      workers,
      deliveries,
      jobs,
      errors,
      checks,
      database: stored,
      ...rest
    } = await status();
    expect(nodes).toMatchObject([
      { id: "node-1", uptimeSeconds: 160n, heartbeatSeconds: 90n, running: 0n, servesCalls: true },
    ]);
    expect(profiles).toMatchObject([
      { profile: "manus-1.6", agent: "offline", queued: 2n, oldestSeconds: 70n, running: 0n, failed: 0n },
      { profile: "manus-1.6-max", agent: "remote", queued: 1n, oldestSeconds: 70n, running: 0n, failed: 1n },
    ]);
    expect(workers).toMatchObject({
      credentials: 1n,
      present: 0n,
      runs: 0n,
      data: [{ spaceId: ann.spaceId }],
    });
    expect(deliveries).toMatchObject({
      pending: 1n,
      due: 1n,
      oldestDueSeconds: 70n,
      activeWebhooks: 1n,
      failingWebhooks: 0n,
    });
    expect(deliveries?.intervals.map(({ pending }) => pending).reduce((sum, each) => sum + each)).toBe(1n);
    expect(deliveries?.intervals).toHaveLength(12);
    // Runs have no job.
    expect(jobs).toMatchObject([{ kind: "deliver", count: 1n }]);
    expect(errors).toMatchObject({ tasks: 1n, workerRuns: 0n, deliveries: 0n, exports: 0n });
    expect(stored?.engine).toBe(kind);
    expect(stored?.bytes).toBeGreaterThan(100_000n);
    expect(rest.version).toMatch(/^\d+\.\d+\.\d+/);
    const late = checks.filter(({ state }) => state === StatusCheckState.WARNING).map(({ name }) => name);
    // On PostgreSQL jobs have the database's time, which no test moves.
    const jobsAreLate = kind === "sqlite" ? ["jobs"] : [];
    expect(late.filter((name) => name !== "disk")).toEqual([
      "heartbeats",
      "queue",
      "workers",
      "deliveries",
      ...jobsAreLate,
    ]);

    const text = JSON.stringify(await status(), (_, value) =>
      typeof value === "bigint" ? Number(value) : value,
    );
    for (const hidden of [secret, "127.0.0.1", "node.example", "@example.com", "Team "])
      expect(text).not.toContain(hidden);
  });

  test("is refused to every role of every team, to keys of an operator, and once the flag is taken away", async () => {
    for (const role of roles.filter((each) => each !== "owner"))
      expect(await codeOf(status(await service.person({ with: operator, role }))), role).toBe(
        "PermissionDenied",
      );
    expect(await codeOf(status(await service.person()))).toBe("PermissionDenied");
    expect(await codeOf(status(await service.person({ personal: true })))).toBe("PermissionDenied");
    expect(await codeOf(operator.client(InstallationService).getStatus({}))).toBe("PermissionDenied");
    expect((await operator.v2("operator.status")).status).toBe(403);
    const session = await operator.session();
    const call = () => codeOf(session.client(InstallationService).getStatus({}));
    expect(await call()).toBe("admitted");
    await service.store.change((tx) => tx.accounts.setOperator(operator.accountId, false));
    expect(await call()).toBe("PermissionDenied");
    await service.store.change((tx) => tx.accounts.setOperator(operator.accountId, true));
    expect(await call()).toBe("admitted");
  });

  test("is audited at each call, in the space of the session", async () => {
    const read = "installation.v1.InstallationService/GetStatus";
    const rows = async () =>
      (
        await rowsIn(
          database.url,
          `SELECT space_id, account_id FROM audit_event WHERE operation = '${read}' AND outcome = 'done'`,
        )
      ).map(({ space_id, account_id }) => ({ space_id, account_id }));
    const before = await rows();
    const elsewhere = await service.person({ as: operator, personal: true });
    await status();
    await status(elsewhere);
    const { accountId: account_id } = operator;
    expect((await rows()).slice(before.length)).toEqual(
      expect.arrayContaining([
        { space_id: operator.spaceId, account_id },
        { space_id: elsewhere.spaceId, account_id },
      ]),
    );
    expect((await rows()).length).toBe(before.length + 2);
  });

  test("user.me returns to a session whether it is an operator's, and to a key nothing", async () => {
    const me = async (who: Person) => (await who.session()).client(UserService).getCurrentUser({});
    expect((await me(operator)).operator).toBe(true);
    expect((await me(await service.person())).operator).toBe(false);
    expect((await operator.v2("user.me")).body).not.toHaveProperty("operator");
  });
});

describe("checks of the installation", () => {
  const quiet: InstallationStatus = {
    at: 1_000_000,
    nodes: [],
    profiles: [],
    workers: { credentials: 0, present: 0, runs: 0, data: [] },
    deliveries: {
      count: 0,
      due: 0,
      oldestDueAt: null,
      webhooks: { active: 0, failing: 0, inactive: 0 },
      intervals: [],
    },
    contents: { files: 0, bytes: 0, loose: 0 },
    databaseBytes: 0,
    jobs: [],
    failed: { tasks: 0, workerRuns: 0, deliveries: 0, exports: 0 },
    unserved: 0,
    unsealedAt: null,
  };
  const warnings = (changes: Partial<InstallationStatus>, disk: Parameters<typeof checksOf>[1] = null) =>
    checksOf({ ...quiet, ...changes }, disk).filter(({ isOk }) => !isOk);

  test("are silent when nothing waits, and at each limit", () => {
    expect(warnings({})).toEqual([]);
    expect(
      warnings({ unsealedAt: 880_000, jobs: [{ kind: "run", count: 1, due: 1, oldestDueAt: 940_000 }] }),
    ).toEqual([]);
    expect(warnings({}, { free: 5, size: 100 })).toEqual([]);
  });

  test("have one of a read replica only where there is one", () => {
    const ofReplica = (...state: Parameters<typeof checksOf>[2][]) =>
      checksOf(quiet, null, ...state).filter(({ name }) => name === "replica");
    expect(ofReplica()).toEqual([]);
    expect(ofReplica({ problem: null, secondsBehind: 10 })).toEqual([
      { name: "replica", isOk: true, value: 10 },
    ]);
    expect(ofReplica({ problem: null, secondsBehind: 11 })).toEqual([
      { name: "replica", isOk: false, value: 11 },
    ]);
    expect(ofReplica({ problem: "is not a standby", secondsBehind: null })).toEqual([
      { name: "replica", isOk: false, value: null },
    ]);
  });

  test("warn beyond each limit with the measured value", () => {
    expect(warnings({ unsealedAt: 879_000 })).toEqual([{ name: "audit_log", isOk: false, value: 121 }]);
    expect(warnings({ jobs: [{ kind: "run", count: 1, due: 1, oldestDueAt: 939_000 }] })).toMatchObject([
      { name: "jobs", value: 61 },
    ]);
    expect(warnings({ unserved: 2 })).toMatchObject([{ name: "workers", value: 2 }]);
    expect(warnings({}, { free: 4, size: 100 })).toMatchObject([{ name: "disk", value: 4 }]);
  });
});
