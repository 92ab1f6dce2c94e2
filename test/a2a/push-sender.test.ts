import { expect, test } from "vitest";
import { type KeyRestrictions, noRestrictions } from "../../src/core/keys/restrictions.ts";
import { pushScopes } from "../../src/core/push/push-config.ts";
import type { Tx } from "../../src/core/store.ts";
import { eventsExtension } from "../../src/protocols/a2a/protocol.ts";
import { ann, sampleKey } from "../store/samples.ts";
import { describeOnEach } from "../support/database.ts";
import { hangMs } from "../support/patience.ts";
import type { StillClock } from "../support/still-clock.ts";
import { pushRig } from "./push-rig.ts";
import type { Notified } from "./receiver.ts";

/** What ends the right of a key to receive the task of a configuration. */
const losses: readonly { readonly how: string; readonly limit: (tx: Tx, clock: StillClock) => unknown }[] = [
  { how: "is revoked", limit: (tx, clock) => tx.keys.revoke("key", clock.now()) },
  { how: "expires", limit: (_tx, clock) => clock.advance(60_000) },
  { how: "may no longer read tasks", limit: restrictTo({ scopes: ["task:write", "webhook:write"] }) },
  { how: "may no longer write webhooks", limit: restrictTo({ scopes: ["task:read", "webhook:read"] }) },
  { how: "no longer reaches the project", limit: restrictTo({ projectIds: ["projectA"] }) },
];

function restrictTo(limits: Partial<KeyRestrictions>) {
  return (tx: Tx, clock: StillClock) =>
    tx.keys.restrictOwn(
      ann,
      "key",
      { scopes: pushScopes, projectIds: ["projectB"], addressRanges: null, ...limits },
      clock.now(),
    );
}

/** The numbers of the events in notifications. */
const seqs = (got: readonly Notified[]) =>
  got.map(({ body }) => (body.statusUpdate ?? body.artifactUpdate).metadata[eventsExtension].seq);

describeOnEach("the sender of push notifications (spec/api.md 8.125)", (kind) => {
  test("an event that is refused holds back those after it; a restart continues from it; 410 gives up; the end of the task ends it", async () => {
    await using rig = await pushRig(kind);
    const { receiver, clock } = rig;
    const { task, config } = await rig.put(3);
    receiver.answer = () =>
      receiver.got.length === 2 ? { status: 429, headers: { "retry-after": "60" } } : { status: 200 };
    const first = await rig.start();
    await rig.reach(config, { attempts: 1, lastError: "status 429", claim: null, sentSeq: 1 });
    expect((await rig.row(config))?.nextAt).toBe(clock.now() + 60_000);
    await rig.say(task, "4");
    await clock.advance(59_000);
    await first.drain(0);
    expect(seqs(receiver.got)).toEqual([1, 2]);
    // Another process.
    await rig.start();
    await clock.advance(2_000);
    await rig.reach(config, { sentSeq: 4, attempts: 0, lastError: null, claim: null });
    expect(seqs(receiver.got)).toEqual([1, 2, 2, 3, 4]);
    await rig.end(task);
    await rig.reach(config, { state: "ended", secrets: null, sentSeq: 7 }, 2_000);
    expect(seqs(receiver.got)).toEqual([1, 2, 2, 3, 4, 5, 6, 7, 7]);
    expect(receiver.got.at(-2)?.body.artifactUpdate.artifact).toMatchObject({
      name: "structured_output",
      parts: [{ data: { sum: 12 } }],
    });
    expect(receiver.got.at(-1)?.body.statusUpdate.status).toMatchObject({
      state: "TASK_STATE_COMPLETED",
      message: { parts: [{ text: "Done" }] },
    });

    const other = await rig.put(2);
    receiver.answer = () => ({ status: 410 });
    await rig.reach(
      other.config,
      { state: "failed", secrets: null, lastError: "status 410", sentSeq: 0 },
      2_000,
    );
    expect(rig.logged.filter((line) => line.includes("given up"))).toHaveLength(1);
  });

  test("deletion, also while a request is open, stops the sending; so does the end of task and access; a dead sender's lease passes", async () => {
    await using rig = await pushRig(kind);
    const { receiver, store, clock } = rig;
    const { config } = await rig.put(3);
    const held = Promise.withResolvers<void>();
    receiver.answer = async () => {
      await held.promise;
      return { status: 200 };
    };
    await rig.start();
    await receiver.until(1);
    await store.change((tx) => tx.pushConfigs.remove(config));
    const gone = await rig.put(3);
    await store.change((tx) => tx.tasks.tombstone(gone.task.id, clock.now(), true));
    const lost = await rig.put(3, { clientId: "an-app-without-grant" });
    const dead = await rig.put(2);
    const until = clock.now() + 30_000;
    await store.change((tx) => tx.pushConfigs.take(dead.config, "of a dead process", clock.now(), until));
    held.resolve();
    await rig.reach(dead.config, { sentSeq: 2, claim: null }, 2_000);
    expect(clock.now()).toBeGreaterThanOrEqual(until);
    expect([await rig.row(gone.config), await rig.row(lost.config), await rig.row(config)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const paths = receiver.got.map(({ path }) => path.slice(1));
    expect(paths).toEqual([config.taskId, dead.task.id, dead.task.id]);
    const refused = await store.change((tx) =>
      tx.pushConfigs.advance(dead.config, "of a dead process", 1, clock.now()),
    );
    expect(refused).toBe(false);
    // A sender that read the row before another one sent continues after what is sent now.
    const take = () =>
      store.change((tx) =>
        tx.pushConfigs.take(dead.config, "of the next", clock.now(), clock.now() + 30_000),
      );
    expect(await take()).toMatchObject({ sentSeq: 2, claim: "of the next" });
    expect(await take()).toBeNull();
  });

  test.each(
    losses,
  )("a configuration whose key $how ends within 5 s, before anything else is sent, with an audit row", async ({
    limit,
  }) => {
    await using rig = await pushRig(kind);
    const { receiver, store, clock } = rig;
    const projectIds = ["projectA", "projectB"];
    const key = sampleKey({
      id: "key",
      digest: "key",
      ...noRestrictions,
      scopes: pushScopes,
      projectIds,
      expiresAt: clock.now() + 60_000,
    });
    const other = sampleKey({ id: "other", digest: "other", ...noRestrictions });
    await store.change(async (tx) => {
      for (const each of [key, other]) await tx.keys.insert(each);
    });
    const { task, config } = await rig.put(1, { apiKeyId: key.id }, { projectId: "projectB" });
    // Nothing waits to be sent when the right ends.
    await rig.start();
    await rig.reach(config, { sentSeq: 1, claim: null }, 2_000);
    const held = Promise.withResolvers<void>();
    receiver.answer = async () => {
      await held.promise;
      return { status: 200 };
    };
    const busy = await rig.put(3, { apiKeyId: key.id }, { projectId: "projectB" });
    await clock.advance(2_000);
    await receiver.until(2);
    await store.change(async (tx) => void (await limit(tx, clock)));
    held.resolve();
    await rig.say(task, "after the key");
    for (let second = 0; second < 5; second += 1) await clock.advance(1_000);
    await expect
      .poll(async () => [await rig.row(config), await rig.row(busy.config)], { timeout: hangMs })
      .toEqual([undefined, undefined]);
    expect(receiver.got).toHaveLength(2);
    const rows = await store.auditLog.list(ann.spaceId, {}, { order: "asc", limit: 9 });
    const ended = rows.map(({ operation, subject, before }) => ({
      operation,
      subject,
      before: JSON.parse(before ?? ""),
    }));
    const before = { push: "c", host: new URL(receiver.url).host, apiKeyId: "key" };
    for (const { id } of [task, busy.task])
      expect(ended).toContainEqual({ operation: "push/EndConfiguration", subject: id, before });
  });

  test("a configuration without a stored key ends once a key of its account is revoked after it was made, and not by earlier ones", async () => {
    await using rig = await pushRig(kind);
    const { store, clock, receiver } = rig;
    const keys = ["before", "later"].map((id) => sampleKey({ id, digest: id }));
    await store.change(async (tx) => {
      for (const key of keys) await tx.keys.insert(key);
      await tx.keys.revoke("before", clock.now());
    });
    const { config } = await rig.put(2, { createdAt: clock.now() + 1 });
    await rig.start();
    await rig.reach(config, { sentSeq: 2, claim: null }, 2_000);
    await store.change((tx) => tx.keys.revoke("later", clock.now() + 1));
    await clock.advance(2_000);
    await expect.poll(() => rig.row(config), { timeout: hangMs }).toBeUndefined();
    expect(receiver.got).toHaveLength(2);
  });

  test("two processes send each event once and in order, and a drain leaves the rest to the other", async () => {
    await using rig = await pushRig(kind);
    const { receiver } = rig;
    const put = await Promise.all(Array.from({ length: 4 }, () => rig.put(5)));
    const [one] = [await rig.start(), await rig.start()];
    for (let text = 6; text <= 15; text += 1) {
      for (const { task } of put) await rig.say(task, String(text));
      if (text === 10) await one.drain(1_000);
    }
    for (const { config } of put) await rig.reach(config, { sentSeq: 15, claim: null }, 2_000);
    for (const { config } of put)
      expect(seqs(receiver.got.filter(({ path }) => path === `/${config.taskId}`))).toEqual(
        Array.from({ length: 15 }, (_, index) => index + 1),
      );
    expect(rig.logged.filter((line) => line.includes("error"))).toEqual([]);
  });
});
