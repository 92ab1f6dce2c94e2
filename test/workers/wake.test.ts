import { expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { stillClock } from "../support/still-clock.ts";
import { createWorker, remoteRig } from "./worker-rig.ts";

describeOnOne("a poll that is held", (database) => {
  // The clock does not move, so no timer triggers a query.
  const rig = remoteRig({ database, clock: stillClock() });

  test("is answered by the notification of a task that waits for a worker, for which no job exists", async () => {
    const worker = await createWorker(rig.service, rig.ann);
    const { statements, store } = rig.service;
    const queries = () => statements.filter((text) => text.includes("agent_profile IN")).length;
    const queriesBefore = queries();
    const held = worker.call("Poll", { waitSeconds: 30 });
    while (queries() === queriesBefore) await new Promise((resolve) => setImmediate(resolve));
    const kinds: string[] = [];
    const forget = store.feed.onJob((kind) => void kinds.push(kind));
    const before = statements.length;
    const id = await rig.create();
    expect((await held).body.run).toMatchObject({ taskId: id });
    expect(kinds).toEqual(["worker"]);
    expect(statements.slice(before).filter((text) => /INSERT INTO (job|pgboss)/.test(text))).toEqual([]);
    forget();
  });
});
