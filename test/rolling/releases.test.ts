import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { type Release, readReleases } from "../../scripts/releases.ts";
import { migrationsOf } from "../../src/store/migrate.ts";
import {
  installation,
  type Program,
  type Server,
  type ServerLifetime,
  spawnServer,
} from "../faults/server.ts";
import { databaseUrl, postgresTemplate, rowsIn } from "../support/database.ts";
import { depth } from "../support/depth.ts";
import { root } from "../support/server-process.ts";
import { startLoad } from "./load.ts";

const run = promisify(execFile);

/** Calls at each stage. */
const some = depth === "full" ? 400 : 40;

/** The last release before this one. */
function releaseBefore(): Release | undefined {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly version: string;
  };
  return readReleases().all.findLast((release) => release.version !== version);
}

/** Whether git has the commit: a shallow clone lacks it. */
const hasCommit = (commit: string): Promise<boolean> =>
  run("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: root }).then(
    () => true,
    () => false,
  );

/** Builds a release from git by its own set-up, with the packages of this checkout. */
async function buildRelease({ commit }: Release, folder: string): Promise<Program> {
  await run("bash", ["-ec", 'git archive "$1" | tar --extract --directory "$2"', "-", commit, folder], {
    cwd: root,
  });
  expect(otherPackages(folder), "packages of the release that this checkout has in another version").toEqual(
    [],
  );
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const tools = join(folder, "replaced-tools");
  mkdirSync(tools);
  writeFileSync(join(tools, "npm"), "#!/bin/sh\nexit 0\n");
  chmodSync(join(tools, "npm"), 0o755);
  const path = [tools, join(root, "node_modules/.bin"), process.env["PATH"]].join(":");
  await run(process.execPath, ["scripts/setup.mjs"], {
    cwd: folder,
    env: { ...process.env, npm_execpath: "", PATH: path },
  });
  return {
    folder,
    words: existsSync(join(folder, "cli/main.ts")) ? ["cli/main.ts", "serve"] : ["src/main.ts"],
  };
}

function otherPackages(folder: string): readonly string[] {
  const wanted = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly dependencies: Record<string, string>;
  };
  const installed = (name: string) =>
    (
      JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")) as {
        readonly version: string;
      }
    ).version;
  return Object.entries(wanted.dependencies).flatMap(([name, version]) =>
    installed(name) === version ? [] : [`${name} ${version}`],
  );
}

async function ready(
  life: ServerLifetime,
): Promise<Pick<Server, "url" | "child"> & { readonly ended: Promise<number | null> }> {
  return { url: await life.ready, child: life.child, ended: life.ended };
}

test.skipIf(postgresTemplate === undefined || depth === "short")(
  "processes of the release before this one are replaced one by one under load: no call fails, and each event is seen once",
  async (context) => {
    const release = releaseBefore();
    if (release === undefined || !(await hasCommit(release.commit))) {
      console.error(
        `\n  *** git has no commit of the release before this one (a shallow clone?): ITS ROLLING UPGRADE IS SKIPPED ***\n`,
      );
      return context.skip();
    }
    const folder = mkdtempSync(join(tmpdir(), "release-"));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    const before = await buildRelease(release, folder);
    console.info(`${release.version} is built`);
    const database = stack.use(await databaseUrl("postgresql", { empty: true }));
    const place = stack.use(
      installation({
        DATABASE_URL: database.url,
        ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
        WATCH_LIMIT: "1000",
      }),
    );
    const start = async (program?: Program) => {
      const life = spawnServer(place.env, [], program);
      stack.defer(() => void life.child.kill("SIGKILL"));
      return ready(life);
    };
    const migrations = async () =>
      Number((await rowsIn(database.url, "SELECT count(*) AS n FROM _prisma_migrations"))[0]?.["n"]);

    const serving = [await start(before)];
    serving.push(await start(before));
    let turn = 0;
    const load = startLoad(() => serving[turn++ % serving.length]?.url ?? "", await place.key());
    await load.more(some);
    for (const old of [...serving]) {
      serving.push(await start());
      await load.more(some);
      serving.splice(serving.indexOf(old), 1);
      old.child.kill("SIGTERM");
      expect(await old.ended, "the old process drains").toBe(0);
      await load.more(some);
      console.info(
        `a process is replaced; ${load.stats.calls} calls, ${load.stats.failed.length} failed ${load.stats.failed[0] ?? ""}`,
      );
    }
    const counts = await load.prove();
    console.info(
      `${release.version} and this release: ${JSON.stringify(counts)}, ${load.stats.failed.length} failed`,
    );
    expect(load.stats.failed).toEqual([]);
    expect(await migrations(), "the new release migrated the database under load").toBe(
      migrationsOf("postgresql").length,
    );
    expect(counts.reconnections, "streams of the old processes ended").toBeGreaterThan(0);
  },
);
