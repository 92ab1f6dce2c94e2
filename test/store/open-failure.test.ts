import { once } from "node:events";
import { chown, mkdtempDisposable, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { faultText } from "../../cli/server/frame/fault.ts";
import { systemClock } from "../../src/core/clock.ts";
import { Failure } from "../../src/core/failure.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { openFailure, openStore } from "../../src/store/open.ts";
import { databaseUrl, postgresReady, postgresTemplate, runOn } from "../support/database.ts";

/** The error text for an operator when a database cannot be opened. */
async function refusalOf(url: string): Promise<string> {
  const thrown = await openStore({ databaseUrl: url, clock: systemClock, random: systemRandom }).then(
    () => new Error("it was opened"),
    (failure: unknown) => failure,
  );
  expect(thrown).toBeInstanceOf(Failure);
  const text = faultText(thrown);
  expect(text, "one sentence, without a stack").toMatch(/^[^\n]+\n$/);
  expect(text).not.toMatch(/sesame|internal error/);
  return text.trim();
}

describe("the error for a PostgreSQL that cannot be opened names the setting, the address and the cause", () => {
  test("no server listens there", async () => {
    expect(await refusalOf("postgresql://ann:sesame@127.0.0.1:1/platform")).toBe(
      "DATABASE_URL: the database platform at 127.0.0.1:1 cannot be opened: connect ECONNREFUSED 127.0.0.1:1",
    );
  });

  test("its name has no address", async () => {
    expect(await refusalOf("postgresql://ann:sesame@db.invalid/platform")).toMatch(
      /^DATABASE_URL: the database platform at db\.invalid:5432 cannot be opened: getaddrinfo (ENOTFOUND|EAI_AGAIN) db\.invalid$/,
    );
  });

  test("it refuses the password", async () => {
    await using server = await refusingServer("28P01", 'password authentication failed for user "ann"');
    expect(await refusalOf(`postgresql://ann:sesame@127.0.0.1:${server.port}/platform`)).toBe(
      `DATABASE_URL: the database platform at 127.0.0.1:${server.port} cannot be opened: 28P01: password authentication failed for user "ann"`,
    );
  });
});

describe.skipIf(postgresTemplate === undefined)("as does the error for a PostgreSQL that refuses", () => {
  beforeAll(() => postgresReady());
  const at = (change: (url: URL) => void): string => {
    const url = new URL(postgresTemplate ?? "");
    change(url);
    return url.href;
  };

  test("a database that does not exist", async () => {
    const text = await refusalOf(at((url) => Object.assign(url, { pathname: "/missing" })));
    expect(text).toMatch(
      /^DATABASE_URL: the database missing at 127.* cannot be opened: 3D000: database "missing" does not exist$/,
    );
  });

  test("a role that does not exist", async () => {
    const text = await refusalOf(at((url) => Object.assign(url, { username: "nobody", password: "sesame" })));
    expect(text).toMatch(/^DATABASE_URL: .* cannot be opened: 28000: role "nobody" does not exist$/);
  });

  test("a role without the right to create tables", async () => {
    await using database = await databaseUrl("postgresql", { empty: true });
    const role = `weak_${process.pid}`;
    await runOn(database.url, `CREATE ROLE ${role} LOGIN`);
    try {
      const text = await refusalOf(Object.assign(new URL(database.url), { username: role }).href);
      expect(text).toMatch(/^DATABASE_URL: .* cannot be opened: 42501: permission denied for schema public$/);
    } finally {
      await runOn(database.url, `DROP ROLE ${role}`);
    }
  });
});

test("the password is removed from a library's error text", () => {
  const url = "postgresql://ann:ses%40me@db.example.com/platform";
  const text = faultText(openFailure(url, new Error(`cannot read ${url}: ses@me`)));
  expect(text).toBe(
    "DATABASE_URL: the database platform at db.example.com:5432 cannot be opened: cannot read postgresql://ann:***@db.example.com/platform: ***\n",
  );
});

test("the error for a file that is not a database names its path", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "open-failure-"));
  const path = join(folder.path, "platform.db");
  await writeFile(path, "no database ".repeat(1000));
  expect(await refusalOf(`file:${path}`)).toBe(
    `DATABASE_URL or DATA_DIR: the file ${path} cannot be opened: SQLITE_NOTADB: file is not a database`,
  );
});

test.skipIf(process.getuid?.() !== 0)("the error for a file of another user names both users", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "open-failure-"));
  const path = join(folder.path, "platform.db");
  await writeFile(path, "no database ".repeat(1000));
  await chown(path, 65_534, 65_534);
  expect(await refusalOf(`file:${path}`)).toContain(
    `${path} cannot be opened by user 0, it belongs to user 65534: SQLITE_`,
  );
});

/** A server that answers each login with this PostgreSQL error. */
async function refusingServer(code: string, text: string) {
  const body = Buffer.from(`SFATAL\0C${code}\0M${text}\0\0`);
  const head = Buffer.concat([Buffer.from("E"), Buffer.alloc(4)]);
  head.writeInt32BE(body.length + 4, 1);
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(Buffer.concat([head, body])));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number }; // It listens on TCP.
  return { port, [Symbol.asyncDispose]: async () => void server.close() };
}
