import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import { keyDigest } from "../src/core/keys/api-key.ts";
import { firstSignInSetting, linkDigest } from "../src/core/sign-in/link.ts";
import { firstKeys, type Output } from "../src/start/first-key.ts";
import { describeOnOne, openTestStore, rowsIn, type TestStore } from "./support/database.ts";
import { share } from "./support/depth.ts";
import { sampledTest } from "./support/sampled.ts";
import { ownEnvironment, root } from "./support/server-process.ts";

const test = sampledTest(2);

const emptyFolder = () => mkdtempDisposable(join(tmpdir(), "first-key-"));
const keyForm = /sk-[A-Za-z0-9_-]{49}/;
const baseUrl = "http://127.0.0.1:8080";
const linkForm = /https:\/\/accounts\.example\.com\/link\/([A-Za-z0-9_-]{43})\n/;

/** The first key of a process that starts on this folder. */
const starting = (dataDir: string) =>
  firstKeys({ dataDir, ownerEmail: "ann@example.com", now: Date.now, ids: systemIds, random: systemRandom });

/** A server that listens over this database. */
const serving = ({ store }: TestStore) => ({
  store,
  baseUrl,
  pagesUrl: "https://accounts.example.com",
  program: "atp",
});

function screen(isTTY: boolean): Output & { text: string } {
  return {
    ...{ isTTY, text: "" },
    write(text) {
      this.text += text;
    },
  };
}

describeOnOne("the first key", (kind) => {
  test("without a terminal is in a file for its owner alone, before it is committed, and its path is shown", async () => {
    await using folder = await emptyFolder();
    await using database = await openTestStore(kind);
    const [first, output, path] = [starting(folder.path), screen(false), join(folder.path, "first-key")];
    await database.store.change(async (tx) => {
      await first.create(tx);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    });
    await first.show(output, serving(database));
    expect(output.text).toContain(`API key   in ${path}`);
    expect(output.text).not.toMatch(keyForm);
    expect(await database.store.keys.holder(keyDigest(readFileSync(path, "utf8").trim()))).not.toBeNull();
  });

  test("on a terminal is shown, and the file goes", async () => {
    await using folder = await emptyFolder();
    await using database = await openTestStore(kind);
    const [first, output] = [starting(folder.path), screen(true)];
    await database.store.change(first.create);
    await first.show(output, serving(database));
    const [key = ""] = keyForm.exec(output.text) ?? [];
    expect(await database.store.keys.holder(keyDigest(key))).not.toBeNull();
    expect(existsSync(join(folder.path, "first-key"))).toBe(false);
    // The link, which most people need, is before the key.
    expect(output.text.search(linkForm)).toBeGreaterThan(0);
    expect(output.text.search(linkForm)).toBeLessThan(output.text.indexOf(key));
  });

  test("of a start that failed is shown by the next one, as long as it is unused", async () => {
    await using folder = await emptyFolder();
    await using database = await openTestStore(kind);
    await database.store.change(starting(folder.path).create);
    for (const isTTY of [false, true]) {
      const [next, output] = [starting(folder.path), screen(isTTY)];
      await database.store.change(next.create);
      await next.show(output, serving(database));
      expect(output.text).toContain("The first API key has not been used yet.");
      expect(output.text).toContain(`in ${join(folder.path, "first-key")}`);
    }
    const digest = (await database.store.keys.onlyUnused()) ?? "";
    const { key } = (await database.store.keys.holder(digest)) ?? {};
    await database.store.change((tx) => tx.keys.recordUse(key?.id ?? "", 1, 0));
    const [last, output] = [starting(folder.path), screen(false)];
    await database.store.change(last.create);
    await last.show(output, serving(database));
    expect(output.text).toBe("");
  });

  test.each([
    "is missing",
    "holds another key",
  ])("that is lost is reported with the way to make another: its file %s", async (how) => {
    await using folder = await emptyFolder();
    await using database = await openTestStore(kind);
    await using other = await openTestStore(kind);
    await database.store.change(starting(folder.path).create);
    if (how === "is missing") rmSync(join(folder.path, "first-key"));
    else await other.store.change(starting(folder.path).create);
    const [next, output] = [starting(folder.path), screen(false)];
    await database.store.change(next.create);
    await next.show(output, serving(database));
    expect(output.text).toContain("atp key --name NAME");
    expect(output.text).not.toMatch(keyForm);
  });

  test("comes with a link to sign in on a terminal, at each start until it is used", async () => {
    await using folder = await emptyFolder();
    await using database = await openTestStore(kind);
    const { store } = database;
    const secrets: string[] = [];
    for (const _ of [1, 2]) {
      const [first, output] = [starting(folder.path), screen(true)];
      await store.change(first.create);
      await first.show(output, serving(database));
      const [, secret = ""] = linkForm.exec(output.text) ?? [];
      expect(await store.links.findOpen(linkDigest(secret), Date.now())).toMatchObject({ isFirst: true });
      secrets.push(secret);
    }
    const audit = JSON.stringify(await rowsIn(database.url, "SELECT * FROM audit_event"));
    expect(audit).toContain("console/Invite");
    for (const secret of secrets) expect(audit).not.toContain(secret);
    await store.change((tx) => tx.settings.put(firstSignInSetting, "done"));
    writeFileSync(join(folder.path, "first-key"), "what a process left that died after the sign-in");
    const [last, output] = [starting(folder.path), screen(true)];
    await store.change(last.create);
    await last.show(output, serving(database));
    expect(output.text).toBe("");
    expect(existsSync(join(folder.path, "first-key"))).toBe(false);
  });

  test("comes without a link elsewhere, and names the command that prints one", async () => {
    await using folder = await emptyFolder();
    await using database = await openTestStore(kind);
    const [first, output] = [starting(folder.path), screen(false)];
    await database.store.change(first.create);
    await first.show(output, serving(database));
    expect(output.text).not.toContain("/link/");
    expect(output.text).toContain("atp user first-link");
    expect(await rowsIn(database.url, "SELECT * FROM sign_in_link")).toEqual([]);
  });

  test("is not reported when it is not the only key", async () => {
    await using folder = await emptyFolder();
    await using database = await openTestStore(kind);
    const { store } = database;
    await store.change(starting(folder.path).create);
    const { key } = (await store.keys.holder((await store.keys.onlyUnused()) ?? "")) ?? {};
    if (!key) throw new Error("there is no first key");
    const { usedAt: _, ...first } = key;
    await store.change((tx) => tx.keys.insert({ ...first, id: "second", digest: "another" }));
    expect(await store.keys.onlyUnused()).toBeNull();
  });
});

const killer = join(root, "test/faults/inside/kill-at.ts");

/** A server's process on a folder; what it has said on standard output ends with it. */
class Life {
  readonly child: ChildProcess;
  readonly ended: Promise<unknown[]>;
  out = "";
  err = "";

  constructor(env: Readonly<Record<string, string>>) {
    const flags = env["KILL_AT"] === undefined ? [] : ["--import", killer];
    this.child = spawn(process.execPath, [...flags, "cli/main.ts", "serve"], {
      cwd: root,
      env: { ...ownEnvironment(), PORT: "0", RATE_LIMITS: "off", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child.stdout?.on("data", (chunk: Buffer) => {
      this.out += chunk;
    });
    this.child.stderr?.on("data", (chunk: Buffer) => {
      this.err += chunk;
    });
    this.ended = once(this.child, "close");
  }

  /** What it has told, once that is all and it is ready. */
  async told(): Promise<string> {
    const { stdout, stderr } = this.child;
    while (!/task\.stop|atp user first-link/.test(this.out) || this.port === "") {
      const heard = [stdout, stderr].map((stream) => once(stream ?? this.child, "data").then(() => null));
      const ended = await Promise.race([this.ended, ...heard]);
      if (ended) throw new Error(`it ended: ${this.err}`);
    }
    return this.out;
  }

  get port(): string {
    return /"port":(\d+),.*"msg":"ready"/.exec(this.err)?.[1] ?? "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }
}

const me = async (port: string, key: string) =>
  (
    await fetch(`http://127.0.0.1:${port}/v2/user.me`, {
      method: "POST",
      headers: { "x-service-api-key": key },
    })
  ).status;

// The following tests start separate processes, concurrently.
describe.concurrent("a first start that is killed", () => {
  const moments: readonly (readonly [moment: string, says: string])[] = [
    ["before file", "This is the first start"],
    ["after file", "This is the first start"],
    ["before commit", "This is the first start"],
    ["after commit", "has not been used yet"],
    ["before listen", "has not been used yet"],
    ["after listen", "has not been used yet"],
    ["before tell", "has not been used yet"],
    ["after tell", "has not been used yet"],
  ];

  // With the seed of `npm test`: after the file, which only a kill leaves without a key in the database.
  test.each(
    share(moments, 6, 8),
  )("%s leaves nothing, or a key that the next start shows", async (moment, says) => {
    await using folder = await emptyFolder();
    const killed = new Life({ DATA_DIR: folder.path, KILL_AT: moment });
    expect(await killed.ended, killed.err).toEqual([null, "SIGKILL"]);
    await using next = new Life({ DATA_DIR: folder.path });
    expect(await next.told()).toContain(says);
    const key = readFileSync(join(folder.path, "first-key"), "utf8").trim();
    expect(await me(next.port, key)).toBe(200);
  });
});

test.concurrent("a start on a used port, and one that cannot write the first key, say so in one sentence; the next one creates it", async () => {
  await using folder = await emptyFolder();
  const holder = createServer().listen(0, "127.0.0.1");
  await once(holder, "listening");
  const { port } = holder.address() as { readonly port: number }; // It listens on TCP.
  const refused = new Life({ DATA_DIR: folder.path, PORT: String(port) });
  expect(await refused.ended).toEqual([1, null]);
  expect(refused.err).toMatch(
    new RegExp(`^PORT: 127\\.0\\.0\\.1:${port} is in use by another process: [^\\n]+\\n$`),
  );
  expect(existsSync(join(folder.path, "platform.db"))).toBe(false);
  holder.close();

  const inTheWay = join(folder.path, "first-key");
  mkdirSync(inTheWay);
  const unwritable = new Life({ DATA_DIR: folder.path, PORT: String(port) });
  expect(await unwritable.ended).toEqual([1, null]);
  expect(unwritable.err).toMatch(/^DATA_DIR: the file .+\/first-key cannot be written: EISDIR: [^\n]+\n$/m);
  expect(unwritable.err).not.toMatch(/^ +at /m);
  rmdirSync(inTheWay);

  await using next = new Life({ DATA_DIR: folder.path, PORT: String(port) });
  expect(await next.told()).toContain("This is the first start");
});
