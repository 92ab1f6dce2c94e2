import { afterEach, beforeAll, expect, test } from "vitest";
import type { Caller, OpenCall } from "../../src/core/accounts/caller.ts";
import { Failure } from "../../src/core/failure.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { taskSubscriptions } from "../../src/core/tasks/task-subscriptions.ts";
import { type ListenMessage, listeners } from "../../src/core/webhooks/listeners.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { createTask } from "./listen-rig.ts";
import { webhookRig } from "./rig.ts";

describeOnOne("a listener whose stream is read slowly", (database) => {
  const rig = webhookRig(database);
  let ann: Person;
  let revoked = false;
  let checks = 0;
  const away = new AbortController();
  const clock = stillClock(Date.now());
  beforeAll(async () => {
    ann = await rig.person();
  });
  afterEach(async () => {
    await expect.poll(() => rowsIn(rig.db.url, "SELECT * FROM webhook_listener")).toEqual([]);
    await expect.poll(() => rowsIn(rig.db.url, "SELECT * FROM listener_event")).toEqual([]);
    revoked = false;
  });

  /** A listener over the platform's store, with a clock that the test moves. */
  async function open() {
    const { store } = rig.service;
    const draining = new AbortController().signal;
    const subscriptions = taskSubscriptions(store.feed, clock, { limit: 5, pollMs: 1_000, draining });
    const log = () => undefined;
    const sign = async (_: unknown, { id }: { readonly id: string }) => ({ "webhook-id": id });
    const all = listeners({
      store,
      clock,
      log,
      subscriptions,
      sign,
      draining,
      cipher,
      ids: systemIds,
      random: systemRandom,
    });
    const { accountId, spaceId } = ann;
    const caller = {
      accountId,
      spaceId,
      role: "owner",
      locale: "en",
      credential: { kind: "key", id: ann.keyId },
    } as Caller;
    const call: OpenCall = {
      ...{ caller, accessKey: "", network: "", gone: away.signal },
      async reauthenticate() {
        checks += 1;
        if (revoked) throw new Failure("unauthenticated", "revoked");
        return caller;
      },
    };
    const created = await store.change((tx) =>
      all.create(tx, caller, { eventTypes: [], projectId: undefined }),
    );
    const heard = all.open(call, created)[Symbol.asyncIterator]();
    expect((await heard.next()).value).toBe(created);
    return heard;
  }
  const idOf = ({ value }: IteratorResult<ListenMessage>) =>
    value && "event" in value ? value.event.id.split("_").at(-2) : value;

  test("gets the first 100 events in order, then the number of those that were dropped, then new ones", async () => {
    const heard = await open();
    const ids: string[] = [];
    for (let count = 0; count < 103; count += 1) ids.push(await createTask(ann));
    const got: unknown[] = [];
    for (let count = 0; count < 101; count += 1) got.push(idOf(await heard.next()));
    // The loss is reported with the first page, because it is known then.
    expect(got.filter((each) => typeof each === "string")).toEqual(ids.slice(0, 100));
    expect(got.filter((each) => typeof each !== "string")).toEqual([{ dropped: 3 }]);
    const next = heard.next();
    const last = await createTask(ann);
    expect(idOf(await next)).toBe(last);
    await heard.return?.();
  });

  test("does not get the event of a task that was deleted before it was sent", async () => {
    const heard = await open();
    const [gone, kept] = [await createTask(ann), await createTask(ann)];
    await ann.v2("task.delete", { task_id: gone, stop: true });
    expect(idOf(await heard.next())).toBe(kept);
    await heard.return?.();
  });

  test("is deleted within 5 s after its credential is revoked, while no client reads", async () => {
    const heard = await open();
    await createTask(ann);
    revoked = true;
    await clock.advance(5_000);
    await expect.poll(() => rowsIn(rig.db.url, "SELECT * FROM webhook_listener")).toEqual([]);
    await expect(heard.next()).rejects.toThrow("revoked");
  });

  test("ends as lost when maintenance has removed it", async () => {
    const heard = await open();
    await rig.service.store.change((tx) => tx.listeners.purge(clock.now() + 3_600_000));
    await expect(heard.next()).rejects.toThrow("the listener was lost: listen again");
  });

  test("ends as lost at its next renewal, while no client reads", async () => {
    const heard = await open();
    await rig.service.store.change((tx) => tx.listeners.purge(clock.now() + 3_600_000));
    await clock.advance(20_000);
    checks = 0;
    await clock.advance(20_000);
    expect(checks).toBe(0);
    await expect(heard.next()).rejects.toThrow("the listener was lost: listen again");
  });
});
