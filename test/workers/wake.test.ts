import { expect, test } from "vitest";
import { describeOnEach } from "../support/database.ts";
import { stillClock } from "../support/still-clock.ts";
import { handOf, remoteRig } from "./worker-rig.ts";

describeOnEach("a poll that is held", (database) => {
  // Time stands still: nobody looks by itself.
  const rig = remoteRig({ database, clock: stillClock() });

  test("is answered by the news of a task that waits for a worker, for which there is no job", async () => {
    const hand = await handOf(rig.service, rig.ann);
    const { statements, store } = rig.service;
    const looks = () => statements.filter((text) => text.includes("agent_profile IN")).length;
    const looked = looks();
    const held = hand.call("Poll", { waitSeconds: 30 });
    while (looks() === looked) await new Promise((resolve) => setImmediate(resolve));
    const told: string[] = [];
    const forget = store.feed.onJob((kind) => void told.push(kind));
    const before = statements.length;
    const id = await rig.create();
    expect((await held).body.run).toMatchObject({ taskId: id });
    expect(told).toEqual(["worker"]);
    expect(statements.slice(before).filter((text) => /INSERT INTO (job|pgboss)/.test(text))).toEqual([]);
    forget();
  });
});
