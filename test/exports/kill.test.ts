import { basename, join } from "node:path";
import { expect } from "vitest";
import { exportLinks } from "../../src/core/exports/links.ts";
import { seededRandom } from "../faults/harness/seeded-random.ts";
import { installation, userOf } from "../faults/server.ts";
import { readBlobTotals, storedFiles, until } from "../files/files-rig.ts";
import { cipher } from "../support/cipher.ts";
import type { TestDatabase } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import { testMs } from "../support/patience.ts";
import { sampledTest } from "../support/sampled.ts";
import { readZip } from "./export-rig.ts";

const test = sampledTest(3);

const rounds = sample(20, 1);
const [tasks, eventsEach] = [800, 20];

/** Tasks of one account, with incompressible events. */
const fill = (accountId: string, spaceId: string): readonly string[] => {
  const n = (count: number) =>
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`;
  const time = "1700000000000 + i";
  return [
    `INSERT INTO task (id, account_id, space_id, type, title, status, share_visibility, hidden, agent_profile, locale, interactive, task_references,
      credits, created_at, updated_at, last_message_at, last_seq, last_timestamp, message_seq, answered_seq, consumed_seq, fence, claims, idle_claims, queued_at)
     ${n(tasks)} SELECT 'seed' || substr(CAST(1000000000000000000 + i AS TEXT), 2), '${accountId}', '${spaceId}', 'standard', 'Task', 'stopped', 'private',
      FALSE, 'manus-1.6', 'en', FALSE, '[]', 0, ${time}, ${time}, ${time}, ${eventsEach}, ${time}, 1, 1, 1, 1, 1, 0, ${time} FROM n`,
    `INSERT INTO task_event (task_id, seq, space_id, type, timestamp, payload)
     ${n(tasks * eventsEach)} SELECT 'seed' || substr(CAST(1000000000000000000 + i / ${eventsEach} AS TEXT), 2), i % ${eventsEach} + 1, '${spaceId}',
      'explanation', ${time}, '{"content":"' || hex(randomblob(400)) || '"}' FROM n`,
  ];
};

test(`after each of ${rounds} kills during an export the next process makes the archive, and no other bytes are left`, {
  timeout: testMs + rounds * 60_000,
}, async () => {
  using place = installation({ ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64") });
  const database: TestDatabase = {
    kind: "sqlite",
    url: `file:${join(place.dataDir, "platform.db")}`,
    [Symbol.asyncDispose]: async () => undefined,
  };
  let server = await place.start();
  const key = await place.key();
  const user = userOf(server, key);
  const accountId = (await user.call("user.me", {})).body["user_id"];
  const [space] = await runDirectly(
    database,
    `SELECT space_id FROM api_key WHERE account_id = '${accountId}'`,
  );
  for (const statement of fill(accountId, String(space?.["space_id"])))
    await runDirectly(database, statement);
  let interrupted = 0;
  for (let round = 0; round < rounds; round += 1) {
    const dice = seededRandom(`export kill ${round}`);
    const { body } = await userOf(server, key).call("enterprise.export.create", {
      user_id: accountId,
      scope: "ENTERPRISE_EXPORT_SCOPE_FULL",
    });
    const uid = String(body["uid"]);
    const row = async () =>
      (
        await runDirectly(
          database,
          `SELECT status, fence, claims, bytes, sha256 FROM export WHERE id = '${uid}'`,
        )
      )[0];
    await until(async () => (await readBlobTotals(database)).blobs.some(({ state }) => state === "writing"));
    await new Promise((resolve) => setTimeout(resolve, dice.below(400)));
    await server.end("SIGKILL");
    if ((await row())?.["status"] === "processing") interrupted += 1;
    // The duration of a lease passes.
    await runDirectly(database, "UPDATE blob SET lease_until = 0 WHERE state = 'writing'");
    await runDirectly(database, "UPDATE export SET lease_until = 0 WHERE lease_until IS NOT NULL");
    server = await place.start();
    await until(async () => (await row())?.["status"] === "completed");
    await until(async () => (await readBlobTotals(database)).blobs.every(({ state }) => state === "kept"));
    const kept = await runDirectly(database, "SELECT blob_id FROM export WHERE status = 'completed'");
    expect(new Set(storedFiles(place.dataDir).map((path) => basename(path))), "no orphan on disk").toEqual(
      new Set(kept.map(({ blob_id }) => blob_id)),
    );
    const reply = await fetch(
      exportLinks(cipher, server.url).download({ kind: "data", id: uid }, Date.now()).url,
    );
    const { json } = await readZip(Buffer.from(await reply.arrayBuffer()));
    const sessions = json("session_info.json");
    expect([sessions.length, sessions.every(({ events }) => events.length === eventsEach)]).toEqual([
      tasks,
      true,
    ]);
  }
  expect(interrupted, "or nothing was killed").toBeGreaterThan(0);
});
