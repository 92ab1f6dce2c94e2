import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { type Dice, diceOf } from "../faults/harness/dice.ts";
import { installation, type Server, type User, userOf } from "../faults/server.ts";
import type { TestDatabase } from "../support/database.ts";
import { directly } from "../support/direct.ts";
import { testMs } from "../support/patience.ts";
import { books, openPut, sha256, storedIn, until } from "./files-rig.ts";

/** The full form has 20: `KILL_ROUNDS=20 npx vitest run --project rooms test/files/kill.test.ts`. */
const rounds = Number(process.env["KILL_ROUNDS"] ?? 4);
const many = 50;

interface Wish {
  readonly id: string;
  readonly bytes: Uint8Array;
  /** Once it is answered. */
  status?: number;
}

async function begin({ url }: Server, user: User, dice: Dice): Promise<{ readonly wish: Wish; readonly send: () => Promise<void> }> {
  const { body } = await user.call("file.upload", { filename: "a.bin" });
  const wish: Wish = { id: body["file"].id, bytes: new Uint8Array(dice.below(400_000)).fill(dice.below(256)) };
  const put = openPut(`${url}${new URL(body["upload_url"]).pathname}`, dice.chance(0.5) ? { "content-length": wish.bytes.length } : {});
  void put.answer.then(
    ({ status }) => {
      wish.status = status;
    },
    () => undefined,
  );
  const half = dice.below(wish.bytes.length);
  const send = async () => {
    if (half > 0) await Promise.race([put.send(wish.bytes.subarray(0, half)), put.answer.catch(() => undefined)]);
    void put.send(wish.bytes.subarray(half));
    put.end();
  };
  return { wish, send };
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
  const all: Wish[] = [];
  let server = await place.start();
  const key = await place.key();
  for (let round = 0; round < rounds; round += 1) {
    const dice = diceOf(`kill ${round}`);
    const user = userOf(server, key);
    const begun = await Promise.all(Array.from({ length: many }, () => begin(server, user, dice)));
    const wishes = begun.map(({ wish }) => wish);
    all.push(...wishes);
    // Some are whole, some are on their way, some have not begun.
    const sending = begun.map(({ send }) => send().catch(() => undefined));
    const enough = (round % 7) * 6;
    await until(() => wishes.filter(({ status }) => status !== undefined).length >= enough);
    await server.end("SIGKILL");
    await Promise.all(sending);
    // The time that a lease takes to be over.
    await directly(database, "UPDATE blob SET lease_until = 0 WHERE state = 'writing'");
    server = await place.start();
    await until(async () => (await books(database)).blobs.every(({ state }) => state === "kept"));
  }

  const files = new Map((await directly(database, "SELECT id, status, sha256, blob_id FROM file")).map((row) => [row["id"], row]));
  const stored = new Map(storedIn(place.dataDir).map((path) => [basename(path), join(place.dataDir, "files", path)]));
  const kept = new Set<string>();
  for (const { id, bytes, status } of all) {
    const file = files.get(id);
    if (status === 200) expect(file, "what was acknowledged").toMatchObject({ status: "uploaded" });
    if (file?.["status"] !== "uploaded") continue;
    const path = stored.get(String(file["blob_id"]));
    expect(path, "a row without bytes").toBeDefined();
    expect([sha256(readFileSync(path ?? "")), file["sha256"]]).toEqual([sha256(bytes), sha256(bytes)]);
    kept.add(String(file["blob_id"]));
  }
  expect(new Set(stored.keys()), "no orphan on disk").toEqual(kept);
  const found = await books(database);
  expect([found.isExact, new Set(found.blobs.map(({ id }) => id))]).toEqual([true, kept]);
  expect(kept.size, "or nothing was killed").toBeLessThan(all.length);
  expect(kept.size).toBeGreaterThan(0);
});
