import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { WebhookEventType } from "../../src/gen/proto/webhook/v2/webhook_pb.ts";
import { WebhookService } from "../../src/gen/proto/webhook/v2/webhook_service_pb.ts";
import { describeOnEach, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { runJobs } from "../support/timed-jobs.ts";
import { clientOf, rpcWires } from "../support/wires.ts";
import { createTask, type Listening, listenAs } from "./listen-rig.ts";
import { webhookRig } from "./rig.ts";

const listenRpc = "webhook.v2.WebhookService/ListenWebhook";
const atMost = "an account has at most 5 listeners: end another one";

describeOnEach("webhook.listen", (database) => {
  const rig = webhookRig(database);
  let ann: Person;
  const open: Listening[] = [];
  const listen = (who: Person, options?: Parameters<typeof listenAs>[2]) => {
    const listening = listenAs(who, rig.service.url, options);
    open.push(listening);
    return listening;
  };
  const rows = (table = "webhook_listener", condition = "1 = 1") =>
    rowsIn(rig.db.url, `SELECT * FROM ${table} WHERE ${condition}`);
  const rowsOf = ({ accountId }: Person) => rows("webhook_listener", `account_id = '${accountId}'`);

  beforeAll(async () => {
    ann = await rig.person();
  });
  afterEach(async () => {
    for (const listening of open.splice(0)) await listening.leave();
    await expect.poll(() => rows()).toEqual([]);
    await expect.poll(() => rows("listener_event")).toEqual([]);
  });

  test("first sends the listener with its secret, which is stored encrypted and in no audit row", async () => {
    const listening = listen(ann);
    const listener = await listening.ready;
    const now = Date.now() / 1000;
    expect(listener).toEqual({
      type: "listener",
      id: expect.stringMatching(/^[2-9A-HJ-NP-Za-km-z]{22}$/),
      signing_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      signed_url: `urn:webhook-listener:${listener.id}`,
      event_types: ["task_created", "task_stopped"],
      expires_at: expect.any(Number),
    });
    expect(Math.abs(listener.expires_at - now - 3600)).toBeLessThan(60);
    const audit = await rig.auditRow(listenRpc, listener.id);
    expect(JSON.parse(String(audit["after"]))).toEqual({
      eventTypes: listener.event_types,
      expiresAt: expect.any(Number),
    });
    const secret = Buffer.from(listener.signing_secret.slice("whsec_".length), "base64");
    const [row] = await rowsOf(ann);
    expect(Buffer.from(row?.["secret"] as Uint8Array).includes(secret)).toBe(false);
    expect(JSON.stringify([audit, row])).not.toContain(listener.signing_secret);
  });

  test("is in no list of webhooks", async () => {
    await listen(ann).ready;
    for (const list of ["webhook.list", "webhook.teamList"])
      expect((await ann.v2(list)).body["data"]).toEqual([]);
  });

  test("gets the events of its types and of no other", async () => {
    const [all, few] = [
      listen(ann, { event_types: ["task_created", "task_cancelled"] }),
      listen(ann, { event_types: ["task_cancelled"] }),
    ];
    await Promise.all([all.ready, few.ready]);
    const taskId = await createTask(ann);
    await ann.v2("task.stop", { task_id: taskId });
    await Promise.all([all.until(2), few.until(1)]);
    expect(all.deliveries.map(({ event_type }) => event_type)).toEqual(["task_created", "task_cancelled"]);
    expect(few.deliveries.map(({ event_id }) => event_id)).toEqual([all.deliveries[1]?.event_id]);
  });

  test("gets only events of the account's tasks of the API, and with a project only those of its tasks", async () => {
    const bo = await rig.person({ with: ann });
    const { body } = await ann.v2("project.create", { name: "Garden" });
    const project = body["project"].id;
    const [own, ofProject] = [listen(ann), listen(ann, { project_id: project })];
    expect((await ofProject.ready).project_id).toBe(project);
    await own.ready;
    await createTask(bo);
    const ids = [await createTask(ann), await createTask(ann, { project_id: project })];
    await Promise.all([own.until(2), ofProject.until(1)]);
    const tasksIn = ({ deliveries }: Listening) =>
      deliveries.map((delivery) => JSON.parse(delivery.body).task_detail.task_id);
    expect([tasksIn(own), tasksIn(ofProject)]).toEqual([ids, ids.slice(1)]);
  });

  test("is refused for another's project, and leaves no listener", async () => {
    const bo = await rig.person();
    const { body } = await bo.v2("project.create", { name: "Pond" });
    expect(await listen(ann, { project_id: body["project"].id }).end).toBe("project_id: project not found");
    expect(await rowsOf(ann)).toEqual([]);
  });

  test("names an unknown member, and refuses it under strict handling before anything is written", async () => {
    const { status, headers } = await ann.v2("webhook.listen", { zebra: 1 });
    expect([status, headers.get("x-request-warnings")]).toEqual([200, 'unknown member "zebra"']);
    await expect.poll(() => rowsOf(ann)).toEqual([]);
    const refused = await ann.v2("webhook.listen", { zebra: 1 }, { headers: { prefer: "handling=strict" } });
    expect([refused.status, refused.body.error?.message]).toEqual([
      400,
      expect.stringContaining('unknown member "zebra"'),
    ]);
    expect(await rowsOf(ann)).toEqual([]);
  });

  test("ends when its client leaves, and the account can listen again", async () => {
    const opened = [1, 2, 3, 4, 5].map(() => listen(ann));
    await Promise.all(opened.map(({ ready }) => ready));
    expect(await listen(ann).end).toBe(atMost);
    await opened[0]?.leave();
    await expect.poll(() => rowsOf(ann)).toHaveLength(4);
    await listen(ann).ready;
  });

  test("allows five of ten that begin at once, in all spaces of an account together", async () => {
    const elsewhere = await rig.person({ as: ann });
    const opened = Array.from({ length: 10 }, (_, index) => listen(index % 2 === 0 ? ann : elsewhere));
    const outcomes = await Promise.all(
      opened.map(({ ready }) =>
        ready.then(
          () => "ready",
          ({ message }: Error) => message,
        ),
      ),
    );
    expect(outcomes.toSorted()).toEqual([...Array(5).fill(atMost), ...Array(5).fill("ready")]);
  });

  test("leaves nothing when it ends while events occur", async () => {
    for (let round = 0; round < 5; round += 1) {
      const listening = listen(ann);
      await listening.ready;
      await Promise.all([createTask(ann), createTask(ann), listening.leave(), createTask(ann)]);
    }
  });

  test("of a dead process counts for no limit, and goes with the next maintenance", async () => {
    const { service } = rig;
    const { accountId, spaceId } = ann;
    const now = Date.now();
    const dead = {
      accountId,
      spaceId,
      eventTypes: ["task_created"],
      projectId: null,
      secret: new Uint8Array(8),
      expiresAt: now + 60_000,
    } as const;
    await service.store.change(async (tx) => {
      for (const id of ["a", "b", "c", "d", "e"])
        await tx.listeners.insert({ ...dead, id, renewedAt: now - 60_000 });
    });
    await createTask(ann);
    expect(await rows("listener_event")).toHaveLength(5);
    await listen(ann).ready;
    await runJobs(service.store, { ...stillClock(now), now: () => now });
    expect(await rowsOf(ann)).toHaveLength(1);
    expect(await rows("listener_event", "listener_id IN ('a', 'b', 'c', 'd', 'e')")).toEqual([]);
  });

  test("accepts 100 events that wait, and only counts further ones", async () => {
    const { accountId, spaceId } = await rig.person();
    const now = Date.now();
    const { store } = rig.service;
    await store.change((tx) =>
      tx.listeners.insert({
        ...{
          id: "full",
          accountId,
          spaceId,
          eventTypes: ["task_created"],
          projectId: null,
          secret: new Uint8Array(8),
        },
        ...{ expiresAt: now + 3_600_000, renewedAt: now },
      }),
    );
    const heard = Array.from({ length: 12 }, (_, index) => ({ listenerId: "full", eventId: `e${index}` }));
    await Promise.all(Array.from({ length: 10 }, () => store.change((tx) => tx.listeners.put(heard))));
    expect(await store.listeners.state("full")).toEqual({ waiting: 100, dropped: 20 });
    await store.change((tx) => tx.listeners.settle("full", 30));
    await store.change((tx) => tx.listeners.put(heard));
    expect(await store.listeners.state("full")).toEqual({ waiting: 82, dropped: 20 });
    expect(
      (await rows("listener_event")).map(({ position }) => Number(position)).toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 82 }, (_, index) => 31 + index));
    await store.change((tx) => tx.listeners.remove("full"));
  });

  test.each(rpcWires)("sends the listener and its deliveries over %s", async (wire) => {
    const away = new AbortController();
    const client = clientOf(WebhookService, wire, rig.service.url, ann.headers);
    const answers = client
      .listenWebhook({ eventTypes: [WebhookEventType.TASK_CREATED] }, { signal: away.signal })
      [Symbol.asyncIterator]();
    expect((await answers.next()).value).toMatchObject({
      listener: { signingSecret: expect.stringMatching(/^whsec_/) },
    });
    const taskId = await createTask(ann);
    const { value } = await answers.next();
    expect(value.delivery).toMatchObject({
      eventType: WebhookEventType.TASK_CREATED,
      headers: { "webhook-id": value.delivery.eventId },
    });
    expect(JSON.parse(value.delivery.body)).toMatchObject({ task_detail: { task_id: taskId } });
    away.abort();
    await expect(answers.next()).rejects.toThrow();
  });
});

describe("a listener whose clock a test moves", () => {
  const clock = stillClock(quarterPast);
  const rig = webhookRig("sqlite", { clock });
  const listeners = () => rowsIn(rig.db.url, "SELECT * FROM webhook_listener");

  test("ends without an error after 60 minutes", async () => {
    const ann = await rig.person();
    const listening = listenAs(ann, rig.service.url);
    expect((await listening.ready).expires_at).toBe(Math.floor((clock.now() + 3_600_000) / 1000));
    await clock.leap(3_600_000);
    expect(await listening.end).toBe("ok");
    await expect.poll(listeners).toEqual([]);
  });

  test("ends within 5 s after its key is revoked, with the error of a new call", async () => {
    const ann = await rig.person();
    const listening = listenAs(ann, rig.service.url);
    await listening.ready;
    await rig.service.store.change((tx) => tx.keys.revoke(ann.keyId, clock.now()));
    await clock.advance(5_000);
    expect(await listening.end).toBe("Invalid or missing API key");
    await expect.poll(listeners).toEqual([]);
  });

  test("sends no event that occurs after its key is revoked", async () => {
    const ann = await rig.person();
    const other = await rig.person({ as: ann, with: ann });
    const listening = listenAs(ann, rig.service.url);
    await listening.ready;
    await rig.service.store.change((tx) => tx.keys.revoke(ann.keyId, clock.now()));
    await createTask(other);
    expect(await listening.end).toBe("Invalid or missing API key");
    expect(listening.deliveries).toEqual([]);
  });

  test("is renewed while it is open, so that maintenance leaves it", async () => {
    const ann = await rig.person();
    const listening = listenAs(ann, rig.service.url);
    await listening.ready;
    for (let minute = 0; minute < 3; minute += 1) {
      await clock.advance(60_000);
      await expect
        .poll(async () => (await listeners())[0]?.["renewed_at"])
        .toBeGreaterThan(clock.now() - 20_000);
    }
    await createTask(ann);
    await listening.until(1);
    await listening.leave();
  });

  test("ends with unavailable when its process drains", async () => {
    const ann = await rig.person();
    const listening = listenAs(ann, rig.service.url);
    await listening.ready;
    await rig.service.drain();
    expect(await listening.end).toBe("the server is stopping: call again");
    await expect.poll(listeners).toEqual([]);
    expect(rig.service.problems).toEqual([]);
  });
});
