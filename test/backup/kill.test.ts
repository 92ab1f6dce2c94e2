import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { openInstallation } from "../../src/start/installation.ts";
import { seededRandom } from "../faults/harness/seeded-random.ts";
import { uploadFile } from "../files/files-rig.ts";
import { describeOnOne, postgresTemplate, rowsIn } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { testMs } from "../support/patience.ts";
import { sampledTest } from "../support/sampled.ts";
import { ownEnvironment, root } from "../support/server-process.ts";
import { contentOf, type MovePlace, openMoveRig } from "./move-rig.ts";
import { openBackupRig } from "./rig.ts";

const test = sampledTest(3);

const ambient = { clock: systemClock, ids: systemIds, random: systemRandom, log: () => undefined };
const key = Buffer.alloc(32, 7).toString("base64");

/** Runs a command of this checkout. */
function run(command: string, words: readonly string[], env: Readonly<Record<string, string>>) {
  const child: ChildProcess = spawn(process.execPath, ["cli/main.ts", command, ...words], {
    cwd: root,
    env: { ...ownEnvironment(), ENCRYPTION_KEY: key, DATA_DIR_SHARED: "true", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout?.on("data", (chunk: Buffer) => {
    out += chunk;
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    err += chunk;
  });
  return { child, ended: once(child, "close").then(([code]) => ({ code: code as number | null, out, err })) };
}

/** Kills a command after a random time below `below` milliseconds. */
async function runAndKill(
  started: ReturnType<typeof run>,
  below: number,
  dice: { below(max: number): number },
): Promise<void> {
  await Promise.race([started.ended, delay(dice.below(below))]);
  started.child.kill("SIGKILL");
  await started.ended;
}

test.skipIf(postgresTemplate === undefined)(
  "a restore that is killed after pg_restore leaves a database that no server opens",
  async () => {
    await using rig = await openBackupRig("postgresql");
    await rig.platform.service.person();
    const folder = rig.path("backup");
    await rig.backUp(folder);
    const place = await rig.place();
    // The command dies as soon as the rows are committed.
    mkdirSync(rig.path("bin"));
    writeFileSync(
      rig.path("bin/pg_restore"),
      '#!/bin/sh\nPATH="$REAL_PATH" pg_restore "$@" && kill -9 "$PPID"\n',
    );
    chmodSync(rig.path("bin/pg_restore"), 0o755);
    const { PATH = "" } = process.env;
    const env = {
      PATH: `${rig.path("bin")}:${PATH}`,
      REAL_PATH: PATH,
      DATABASE_URL: place.database.url,
      DATA_DIR: place.dataDir,
    };
    const { child, ended } = run("restore", [folder], env);
    await ended;
    expect(child.signalCode).toBe("SIGKILL");
    expect(await rowsIn(place.database.url, "SELECT id FROM account")).not.toEqual([]);
    await expect(openInstallation(place.config, ambient, async () => undefined)).rejects.toThrow(
      "a restore or a move into it has not ended",
    );
    await expect(place.restore(folder)).rejects.toThrow("restore into an empty");
  },
);

const backups = sample(30, 1);

describeOnOne("backups under load", (kind) => {
  test(`that are killed, ${backups} of them, have a complete manifest or none, and a restore accepts only the former`, {
    timeout: testMs + backups * 60_000,
  }, async () => {
    await using rig = await openBackupRig(kind);
    const person = await rig.platform.service.person();
    for (const content of ["one", "two", "three", "four"]) await uploadFile(rig.platform, person, content);
    const env = { DATABASE_URL: rig.platform.database.url, DATA_DIR: join(rig.platform.folder, "..") };
    let duration = 3_000;
    for (let round = 0; round < backups; round += 1) {
      const dice = seededRandom(`backup kill ${round}`);
      const folder = rig.path(`backup-${round}`);
      const over = new AbortController();
      const load = (async () => {
        while (!over.signal.aborted) {
          const { id } = await uploadFile(rig.platform, person, "short-lived");
          await person.v2("file.delete", { file_id: id });
        }
      })();
      await runAndKill(run("backup", [folder], env), duration, dice);
      const begun = performance.now();
      expect(await run("backup", [rig.path(`complete-${round}`)], env).ended).toMatchObject({ code: 0 });
      duration = Math.ceil(performance.now() - begun);
      over.abort();
      await load;
      const place = await rig.place();
      if (existsSync(join(folder, "manifest.json"))) await place.restore(folder);
      else {
        await expect(place.restore(folder)).rejects.toThrow("has no complete backup");
        await place.restore(rig.path(`complete-${round}`));
      }
    }
  });
});

const moves = sample(30, 1);

const settingsOf = ({ url, dataDir }: MovePlace, prefix = ""): Record<string, string> => ({
  [`${prefix}DATA_DIR`]: dataDir,
  [`${prefix}DATABASE_URL`]: url,
});

describeOnOne("moves", (kind) => {
  test.skipIf(postgresTemplate === undefined)(
    `that are killed, ${moves} of them, continue and end with every row`,
    {
      timeout: testMs + moves * 60_000,
    },
    async () => {
      const to = kind === "sqlite" ? "postgresql" : "sqlite";
      let duration = 3_000;
      for (let round = 0; round < moves; round += 1) {
        await using rig = openMoveRig();
        const [source, target] = [await rig.place(kind), await rig.place(to)];
        const serving = await source.serve();
        const person = await serving.person();
        for (let nth = 0; nth < 20; nth += 1)
          await person.v2("task.create", { message: { content: `task ${nth}` } });
        await uploadFile(
          { reach: (link) => link.replace("https://platform.test", serving.url) },
          person,
          "content",
        );
        await serving[Symbol.asyncDispose]();
        const words = ["--from", kind, "--to", to, "--files", "copy", "--json"];
        const env = { ...settingsOf(source), ...settingsOf(target, "TARGET_") };
        await runAndKill(run("move", words, env), duration, seededRandom(`move kill ${round}`));
        const begun = performance.now();
        const { code, out, err } = await run("move", words, env).ended;
        duration = Math.ceil(performance.now() - begun);
        expect({ code, report: JSON.parse(out || "null") }, err).toMatchObject({
          code: 0,
          report: { files: 1, bytes: 7 },
        });
        expect(await contentOf(target.url)).toEqual(await contentOf(source.url));
      }
    },
  );
});

test("the move explains itself with exit code 2 for wrong arguments", async () => {
  const wrong = [
    [],
    ["--from", "sqlite"],
    ["--from", "sqlite", "--to", "mysql"],
    ["--from", "sqlite", "--to", "postgresql", "--files", "no"],
  ];
  for (const words of wrong) {
    const { code, out, err } = await run("move", words, {}).ended;
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/--(from|to|files)/);
  }
});
