import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect } from "vitest";
import { type SeededRandom, seededRandom } from "../faults/harness/seeded-random.ts";
import { installation, type Server, type User, userOf } from "../faults/server.ts";
import type { TestDatabase } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import { testMs } from "../support/patience.ts";
import { sampledTest } from "../support/sampled.ts";
import { openPut, readBlobTotals, sha256, storedFiles, until } from "./files-rig.ts";

const test = sampledTest(3);

const rounds = sample(20, 2);
const many = 50;

interface Upload {
  readonly id: string;
  readonly bytes: Uint8Array;
  /** Set once it is answered. */
  status?: number;
}

async function begin(
  { url }: Server,
  user: User,
  random: SeededRandom,
): Promise<{ readonly upload: Upload; readonly send: () => Promise<void> }> {
  const { body } = await user.call("file.upload", { filename: "a.bin" });
  const upload: Upload = {
    id: body["file"].id,
    bytes: new Uint8Array(random.below(400_000)).fill(random.below(256)),
  };
  const put = openPut(
    `${url}${new URL(body["upload_url"]).pathname}`,
    random.chance(0.5) ? { "content-length": upload.bytes.length } : {},
  );
  void put.answer.then(
    ({ status }) => {
      upload.status = status;
    },
    () => undefined,
  );
  const split = random.below(upload.bytes.length);
  const send = async () => {
    if (split > 0)
      await Promise.race([put.send(upload.bytes.subarray(0, split)), put.answer.catch(() => undefined)]);
    void put.send(upload.bytes.subarray(split));
    put.end();
  };
  return { upload: upload, send };
}

test(`after each of ${rounds} kills during ${many} uploads a file is uploaded with its bytes, or has none`, {
  timeout: testMs + rounds * 60_000,
}, async () => {
  using place = installation();
  const database: TestDatabase = {
    kind: "sqlite",
    url: `file:${join(place.dataDir, "platform.db")}`,
    [Symbol.asyncDispose]: async () => undefined,
  };
  const all: Upload[] = [];
  let server = await place.start();
  const key = await place.key();
  for (let round = 0; round < rounds; round += 1) {
    const random = seededRandom(`kill ${round}`);
    const user = userOf(server, key);
    const begun = await Promise.all(Array.from({ length: many }, () => begin(server, user, random)));
    const uploads = begun.map(({ upload }) => upload);
    all.push(...uploads);
    // Some uploads are complete, some are in progress, some have not begun.
    const sending = begun.map(({ send }) => send().catch(() => undefined));
    const enough = (round % 7) * 6;
    await until(() => uploads.filter(({ status }) => status !== undefined).length >= enough);
    await server.end("SIGKILL");
    await Promise.all(sending);
    // Moves the clock past the end of every lease.
    await runDirectly(database, "UPDATE blob SET lease_until = 0 WHERE state = 'writing'");
    server = await place.start();
    await until(async () => (await readBlobTotals(database)).blobs.every(({ state }) => state === "kept"));
  }

  const files = new Map(
    (await runDirectly(database, "SELECT id, status, sha256, blob_id FROM file")).map((row) => [
      row["id"],
      row,
    ]),
  );
  const stored = new Map(
    storedFiles(place.dataDir).map((path) => [basename(path), join(place.dataDir, "files", path)]),
  );
  const kept = new Set<string>();
  for (const { id, bytes, status } of all) {
    const file = files.get(id);
    if (status === 200) expect(file, "acknowledged uploads").toMatchObject({ status: "uploaded" });
    if (file?.["status"] !== "uploaded") continue;
    const path = stored.get(String(file["blob_id"]));
    expect(path, "a row without bytes").toBeDefined();
    expect([sha256(readFileSync(path ?? "")), file["sha256"]]).toEqual([sha256(bytes), sha256(bytes)]);
    kept.add(String(file["blob_id"]));
  }
  expect(new Set(stored.keys()), "no orphan on disk").toEqual(kept);
  const found = await readBlobTotals(database);
  expect([found.isExact, new Set(found.blobs.map(({ id }) => id))]).toEqual([true, kept]);
  expect(kept.size, "otherwise no process was killed").toBeLessThan(all.length);
  expect(kept.size).toBeGreaterThan(0);
});
