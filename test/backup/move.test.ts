import { readdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { sealer } from "../../src/core/audit/seal.ts";
import { cipherFrom } from "../../src/core/cipher.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { hold, release } from "../../src/core/processes/hold.ts";
import { UserService } from "../../src/gen/proto/user/v2/user_service_pb.ts";
import { openInstallation } from "../../src/start/installation.ts";
import { lockFolder } from "../../src/store/folder.ts";
import { openReceiver } from "../egress/receiver.ts";
import { seededRandom } from "../faults/harness/seeded-random.ts";
import { uploadFile } from "../files/files-rig.ts";
import {
  type DatabaseKind,
  describeOnEach,
  describeOnOne,
  postgresTemplate,
  rowsIn,
} from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { type Calling, callingWith, type Service } from "../support/service.ts";
import { contentOf, type MovePlace, moveBetween, openMoveRig } from "./move-rig.ts";

const ambient = { clock: systemClock, ids: systemIds, random: systemRandom, log: () => undefined };
const start = (place: MovePlace) => openInstallation(place.config, ambient, async () => undefined);

/** Creates a task and waits for its end. */
async function runTask(person: Calling, content: string): Promise<string> {
  const { body } = await person.v2("task.create", { message: { content } });
  await expect.poll(async () => (await person.v2("task.detail", body)).body["task"].status).toBe("stopped");
  return body["task_id"];
}

async function putPublications(place: MovePlace, keys: readonly string[]): Promise<void> {
  const store = await place.open();
  await store.change(async (tx) => {
    for (const key of keys) await tx.jobs.put({ kind: "publish", key, runAt: 1 });
  });
  await store.close();
}

const platformOf = (service: Service) => ({
  reach: (link: string) => link.replace("https://platform.test", service.url),
});

async function openHook() {
  const got: { readonly headers: Record<string, string>; readonly body: string }[] = [];
  const server = await openReceiver(async (request, response) => {
    got.push({ headers: request.headers as Record<string, string>, body: await text(request) }); // each header occurs once
    response.writeHead(200).end();
  });
  return { got, url: `${server.url}/in`, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

describeOnOne("a move to the other database", (kind) => {
  const other = otherThan(kind);

  test.skipIf(postgresTemplate === undefined)(
    "and back keeps rows, files, keys, sessions, webhook secrets, search and the audit log",
    {
      timeout: 120_000,
    },
    async () => {
      await using rig = openMoveRig();
      await using hook = await openHook();
      const source = await rig.place(kind);
      const first = await source.serve({ idle: false });
      const person = await first.person();
      const session = await person.session();
      const { body: made } = await person.v2("webhook.create", { url: hook.url });
      const task = await runTask(person, "[[say a heron stands in the reeds]]");
      const file = (await uploadFile(platformOf(first), person, "kept content")).id;
      const messages = (await person.v2("task.listMessages", { task_id: task })).body["messages"];
      await expect.poll(() => hook.got.length).toBeGreaterThan(2);
      await expect
        .poll(() => rowsIn(source.url, "SELECT 1 FROM delivery WHERE state = 'pending'"))
        .toEqual([]);
      await sealer(first.store, systemClock)(new AbortController().signal);
      await first[Symbol.asyncDispose]();

      const target = await rig.place(other, source.dataDir);
      const report = await moveBetween(source, target);
      expect(report.logs).toBeGreaterThan(0);
      const content = await contentOf(target.url);
      expect(content).toEqual(await contentOf(source.url));
      expect(report.rows).toBeGreaterThanOrEqual(Object.values(content).flat().length);
      await expect(start(source)).rejects.toThrow(
        /this installation was moved to the (database|file) .+: set DATABASE_URL to that database/,
      );

      const second = await target.serve({ idle: false });
      const moved = callingWith(person.headers, () => second.url);
      expect((await moved.v2("task.listMessages", { task_id: task })).body["messages"]).toEqual(messages);
      expect((await moved.v2("task.list", { query: "heron" })).body).toMatchObject({ data: [{ id: task }] });
      expect((await moved.v2("file.detail", { file_id: file })).body["file"]).toMatchObject({
        status: "uploaded",
      });
      const user = callingWith(session.headers, () => second.url).client(UserService);
      expect((await user.getCurrentUser({})).userId).toBe(person.accountId);
      hook.got.length = 0;
      await runTask(moved, "[[say Done]]");
      await expect.poll(() => hook.got.length).toBeGreaterThan(1);
      const [delivered = { headers: {}, body: "" }] = hook.got;
      expect(() =>
        new StandardWebhook(String(made["signing_secret"])).verify(delivered.body, delivered.headers),
      ).not.toThrow();
      await expect
        .poll(() => rowsIn(target.url, "SELECT 1 FROM delivery WHERE state = 'pending'"))
        .toEqual([]);
      await second[Symbol.asyncDispose]();

      const home = await rig.place(kind);
      const back = await moveBetween(target, home, { copiesFiles: true });
      expect(back).toMatchObject({ files: 1, bytes: "kept content".length });
      expect(await contentOf(home.url)).toEqual(await contentOf(target.url));
      expect(
        await text(
          await home.side.blobs.read(String((await rowsIn(home.url, "SELECT id FROM blob"))[0]?.["id"])),
        ),
      ).toBe("kept content");
    },
  );

  test.skipIf(postgresTemplate === undefined)(
    "that stops at any point continues, and until then no server opens either database",
    async () => {
      await using rig = openMoveRig();
      const source = await rig.place(kind);
      const serving = await source.serve();
      const person = await serving.person();
      for (const content of ["one", "two", "three"]) {
        await person.v2("task.create", { message: { content } });
        await uploadFile(platformOf(serving), person, content);
      }
      await serving[Symbol.asyncDispose]();
      await putPublications(source, ["a", "b", "c"]);
      const target = await rig.place(other);
      const dice = seededRandom(`move ${kind}`);
      const steps: string[] = [];
      const rounds = sample(30, 3);
      for (let round = 0; round < rounds; round += 1) {
        let left = dice.below(60);
        const stop = (step: string, { rows, files }: { readonly rows: number; readonly files: number }) => {
          left -= 1;
          if (left >= 0) return;
          steps.push(`${step} ${rows} ${files}`);
          throw new Error("stopped");
        };
        await expect(moveBetween(source, target, { copiesFiles: true, onProgress: stop })).rejects.toThrow(
          "stopped",
        );
        await expect(start(source)).rejects.toThrow("was moved to");
        if (other === "postgresql")
          await expect(start(target)).rejects.toThrow("a restore or a move into it has not ended");
        else
          expect(
            readdirSync(join(target.url.slice("file:".length), "..")).filter(
              (name) => name === "platform.db",
            ),
          ).toEqual([]);
      }
      expect(new Set(steps).size).toBeGreaterThan(1);
      const report = await moveBetween(source, target, { copiesFiles: true });
      expect(report).toMatchObject({ files: 3, bytes: 11 });
      expect(await contentOf(target.url)).toEqual(await contentOf(source.url));
      // SQLite has no jobs of runs.
      const postgresql =
        "SELECT singleton_key AS key FROM pgboss.job WHERE state < 'active' AND name <> 'run'";
      const jobs = { sqlite: "SELECT key FROM job", postgresql };
      const keysOf = async (place: MovePlace, of: keyof typeof jobs) =>
        (await rowsIn(place.url, jobs[of])).map(({ key }) => String(key)).toSorted();
      for (const keys of [await keysOf(source, kind), await keysOf(target, other)])
        expect(keys).toEqual(["a", "b", "c"]);
      // The last run may have died after its last step.
      const { rows, files, bytes } = report;
      expect(await moveBetween(source, target, { copiesFiles: true })).toEqual({ rows, files, bytes });
    },
  );

  test.skipIf(postgresTemplate === undefined)(
    "is refused with another key, another storage, and into a place that is not empty",
    async () => {
      await using rig = openMoveRig();
      const [source, target, full] = [await rig.place(kind), await rig.place(other), await rig.place(other)];
      for (const place of [source, full]) {
        const serving = await place.serve();
        await serving.person();
        await serving[Symbol.asyncDispose]();
      }
      const refused = (change: Parameters<typeof moveBetween>[2], to = target) =>
        expect(moveBetween(source, to, { copiesFiles: true, ...change })).rejects;
      const cipher = cipherFrom(Buffer.alloc(32, 8), systemRandom);
      await refused({ target: { ...target.side, cipher } }).toThrow("the target has another ENCRYPTION_KEY");
      await refused({ copiesFiles: false }).toThrow("the target has another storage of files");
      await refused({ target: { ...target.side, config: source.side.config } }).toThrow(
        "are the same database",
      );
      await refused({}, full).toThrow("is not empty: move into an empty place");
      await (await start(source)).store.close();

      await refused({ onProgress: stopNow }).toThrow("stopped");
      await refused({}, await rig.place(other)).toThrow(
        /a move to the (database|file) .+ has begun: continue it, or abandon it by/,
      );
      const store = await source.open();
      await expect(store.change((tx) => release(tx))).rejects.toThrow("was moved to");
      expect(await store.change((tx) => release(tx, true))).toBe(true);
      await store.close();
      await (await start(source)).store.close();
      await refused({}).toThrow("of a restore or of another move, which has not ended: empty it first");
      const held = await rig.place(kind);
      const holding = await held.open();
      await holding.change((tx) => hold(tx, systemClock.now()));
      await holding.close();
      await expect(moveBetween(held, await rig.place(other), { copiesFiles: true })).rejects.toThrow(
        "was restored from a backup and is held",
      );
    },
  );
});

describeOnEach("a move from a database", (kind) => {
  test.skipIf(postgresTemplate === undefined)(
    "is refused while a process has the source open, and the source stays in use",
    async () => {
      await using rig = openMoveRig();
      const [source, target] = [await rig.place(kind), await rig.place(otherThan(kind))];
      await using serving = await source.serve();
      await serving.person();
      const lock = kind === "sqlite" ? await lockFolder(source.dataDir) : null;
      await expect(moveBetween(source, target, { copiesFiles: true })).rejects.toThrow(
        kind === "sqlite" ? "another server runs on the folder" : "servers or commands use the database",
      );
      const store = await start(source);
      await store.store.close();
      await lock?.release();
    },
  );
});

const otherThan = (kind: DatabaseKind): DatabaseKind => (kind === "sqlite" ? "postgresql" : "sqlite");

function stopNow(): never {
  throw new Error("stopped");
}
