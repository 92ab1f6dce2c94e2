import { chmod, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { eventually, installation, userOf } from "./faults/server.ts";
import { databaseUrl, describeOnOne, postgresTemplate } from "./support/database.ts";

test("a server creates its files for its user alone in a folder that others can enter, and SIGHUP drains it", async () => {
  const before = process.umask(0o022);
  onTestFinished(() => void process.umask(before));
  using place = installation();
  await chmod(place.dataDir, 0o755);
  const server = await place.start();
  const names = await readdir(place.dataDir);
  const modes = await Promise.all(
    names.map(async (name) => [name, (await stat(join(place.dataDir, name))).mode & 0o077]),
  );
  expect(names).toEqual(expect.arrayContaining(["encryption-key", "platform.db", "platform.db-wal"]));
  expect(modes).toEqual(names.map((name) => [name, 0]));
  expect(await server.end("SIGHUP")).toMatchObject({ code: 0 });
  expect(server.stderrText()).toContain('"msg":"draining"');
});

describe.skipIf(postgresTemplate === undefined)("a second process on PostgreSQL without a bucket", () => {
  test("is refused without DATA_DIR_SHARED while the first one serves, and runs after it", async () => {
    await using database = await databaseUrl("postgresql");
    const env = {
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
      DATA_DIR_SHARED: "false",
    };
    using place = installation(env);
    using other = installation(env);
    const first = await place.start();
    const refused = other.spawn();
    expect(await Promise.race([refused.ended, refused.ready])).toBe(1);
    expect(refused.stderrText()).toMatch(
      /^another process runs on this database, .+ or DATA_DIR_SHARED=true [^\n]+\n$/m,
    );
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
    expect(await first.end("SIGTERM")).toMatchObject({ code: 0 });
    expect((await fetch(`${(await other.start()).url}/readyz`)).status).toBe(200);
  });
});

/**
 * A module that reports on standard error when the process loads Prisma's client or a package that few calls
 * need, or starts a thread.
 */
const loadReport = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  process.on("worker", () => process.stderr.write("loads a thread\\n"));
  const packages = ["@simplewebauthn/server", "ajv", "flydrive", "jose", "nodemailer", "openid-client", "undici", "yaml"];
  registerHooks({
    resolve(name, context, next) {
      if (/\\/gen\\/prisma\\/\\w+\\/client\\.ts$/.test(name)) process.stderr.write("loads the client\\n");
      if (packages.includes(name)) process.stderr.write("loads " + name + "\\n");
      return next(name, context);
    },
  });`)}`;

describeOnOne("What few calls need", (kind) => {
  test("is loaded by that call: a later start that reads a task by its API key loads no client of Prisma, no such package and no thread", async () => {
    await using database = await databaseUrl(kind);
    using place = installation({
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
    });
    const start = () => place.start({ preloads: [loadReport] });
    const first = await start();
    const key = await place.key();
    const made = userOf(first, key);
    const id = await made.create("Say hello");
    await eventually("the turn ends", async () => (await made.status(id)) === "stopped");
    expect((await fetch(`${first.url}/oauth/jwks`)).status).toBe(200);
    expect((await made.call("agent.list", {})).status).toBe(200);
    expect(await first.end("SIGTERM")).toMatchObject({ code: 0 });
    expect(first.stderrText()).toContain("loads the client\n");
    expect(first.stderrText()).toContain("loads jose\n");

    const later = await start();
    expect(await userOf(later, key).status(id)).toBe("stopped");
    // The end starts the watchdog.
    const untilEnd = later.stderrText();
    expect(await later.end("SIGTERM")).toMatchObject({ code: 0 });
    expect(untilEnd).not.toContain("loads ");
  });
});
