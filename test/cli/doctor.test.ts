import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  judgePostgres,
  judgeReplica,
  judgeSqlite,
  type PostgresFacts,
} from "../../cli/server/doctor/database.ts";
import { examine, type Named, ok } from "../../cli/server/doctor/finding.ts";
import { judgeCertificate, judgeSkew } from "../../cli/server/doctor/network.ts";
import { bubblewrapLine, judgeSandbox, probe } from "../../cli/server/doctor/sandbox.ts";
import { buildText, currentBuild } from "../../src/config/version.ts";
import { runIn, withFolder } from "../../src/runtime/agents/model/tools/sandbox/sandbox.ts";
import { openReceiver, type Receiver, selfSigned } from "../egress/receiver.ts";
import { openAuthorizationServer } from "../support/authorization-server.ts";
import { describeOnOne, openTestStore, postgresTemplate } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { openMailServer } from "../support/mail-server.ts";
import { sandboxUser } from "../support/model/sandbox-user.ts";
import { lacks } from "../support/needs.ts";
import { startPgBouncer } from "../support/pgbouncer.ts";
import { startS3 } from "../support/s3-server.ts";
import { runWith, testFolder } from "./rig.ts";

const home = testFolder();
let outside: Receiver;
beforeAll(async () => {
  outside = await openReceiver(answering(200));
});
afterAll(() => outside[Symbol.asyncDispose]());

function answering(status: number, headers: Readonly<Record<string, string>> = {}): RequestListener {
  return (_request, response) => void response.writeHead(status, headers).end();
}

interface Examined {
  readonly code: number;
  /** The findings of each check. */
  readonly of: (name: string) => readonly Named[];
  readonly out: string;
}

/** Runs the command with these settings, on an own data folder. */
async function examined(env: Readonly<Record<string, string>>, reach = outside.url): Promise<Examined> {
  const settings = {
    DATA_DIR: join(home, "absent"),
    WEBHOOK_ALLOW: "loopback",
    BASE_URL: outside.url,
    ...env,
  };
  const { code, out } = await runWith(home, outside, ["doctor", "--json", "--reach", reach], {
    env: settings,
  });
  const findings: readonly Named[] = JSON.parse(out);
  return { code, out, of: (name) => findings.filter((finding) => finding.name === name) };
}

const closedUrl = async (scheme: string): Promise<string> => `${scheme}://127.0.0.1:${await freePort()}`;

describe("atp doctor", () => {
  test("finds nothing wrong before a first start, says what is not there yet, and creates nothing", async () => {
    const before = readdirSync(home);
    const { code, of } = await examined({});
    expect(code).toBe(0);
    expect(of("program")).toEqual([{ name: "program", ...ok(buildText(await currentBuild())) }]);
    for (const name of [
      "configuration",
      "clock",
      "disk",
      "permissions",
      "storage",
      "archive",
      "egress",
      "public",
      "mail",
      "models",
      "sandbox",
      "sign-in",
    ])
      expect(of(name), name).toMatchObject([{ verdict: "ok" }]);
    expect(of("packages").map(({ found }) => found)).toEqual([
      expect.stringContaining("@ai-sdk/openai@"),
      expect.stringContaining("@napi-rs/canvas@"),
    ]);
    expect(of("database")).toMatchObject([
      { verdict: "warn", found: expect.stringContaining("there is no database") },
    ]);
    expect(readdirSync(home)).toEqual(before);
  });

  test("names every wrong setting with what to do, shows no secret, and checks nothing else", async () => {
    const { code, of, out } = await examined({ PORT: "many", SMTP_URL: "hunter2" });
    expect(code).toBe(1);
    expect(of("configuration")).toMatchObject([
      {
        verdict: "fail",
        found: expect.stringMatching(/^PORT must be/),
        advice: expect.stringContaining("configuration.md"),
      },
      { verdict: "fail", found: expect.stringMatching(/^SMTP_URL must be/) },
    ]);
    expect([of("disk"), out.includes("hunter2")]).toEqual([[], false]);
  });

  test("warns of files that other users can read, with the command that closes them", async () => {
    const folder = mkdtempSync(join(tmpdir(), "doctor-"));
    writeFileSync(join(folder, "encryption-key"), Buffer.alloc(32, 7).toString("base64"));
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "encryption-key"), 0o644);
    const { code, of } = await examined({ DATA_DIR: folder });
    expect([code, of("permissions").map(({ advice }) => advice)]).toEqual([
      0,
      [`chmod 700 ${folder}`, `chmod 600 ${folder}/encryption-key`],
    ]);
    rmSync(folder, { recursive: true });
  });
});

describeOnOne("a database", (kind) => {
  const settings = (url: string) => ({
    DATABASE_URL: url,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
    DATA_DIR_SHARED: "true",
  });

  test("that is migrated and durable is ok, and its clock agrees", async () => {
    await using database = await openTestStore(kind);
    const { of } = await examined(settings(database.url));
    expect(of("database")[0]).toMatchObject({
      verdict: "ok",
      found: expect.stringContaining("migrations are applied"),
    });
    const version =
      kind === "sqlite"
        ? /^SQLite .*journal mode wal, quick_check ok$/
        : /PostgreSQL \d+, fsync|fsync is off|connections are used/;
    expect(of("database").map(({ found }) => found)).toContainEqual(expect.stringMatching(version));
    if (kind === "postgresql")
      expect(of("clock")[0]).toMatchObject({ verdict: "ok", found: expect.stringContaining("the database") });
  });

  test("that cannot be read fails", async () => {
    const path = join(home, "damaged.db");
    writeFileSync(path, "this is not a database, and never was one");
    const url = kind === "sqlite" ? `file:${path}` : `${await closedUrl("postgresql")}/none`;
    const { code, of } = await examined(settings(url));
    expect([code, of("database")]).toMatchObject([
      1,
      [{ verdict: "fail", advice: expect.stringContaining("DATABASE_URL") }],
    ]);
    rmSync(path);
  });
});

describe.skipIf(postgresTemplate === undefined || lacks("pgbouncer"))("a pooler of transactions", () => {
  test("needs a direct address, and is ok with one; a direct address without need is a warning", async () => {
    await using database = await openTestStore("postgresql");
    await using pooler = await startPgBouncer(database.url, "transaction");
    const found = async (urls: Readonly<Record<string, string>>) => {
      const { of } = await examined({
        ...urls,
        ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
        DATA_DIR_SHARED: "true",
      });
      return of("database")[0];
    };
    const text = expect.stringMatching(
      /^DATABASE_URL: .* set DATABASE_DIRECT_URL to the address of PostgreSQL itself/,
    );
    expect(await found({ DATABASE_URL: pooler.url })).toMatchObject({ verdict: "fail", found: text });
    const both = { DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: database.url };
    expect(await found(both)).toMatchObject({
      verdict: "ok",
      found: "DATABASE_URL is behind a pooler of transactions",
    });
    const unused = await found({ DATABASE_URL: database.url, DATABASE_DIRECT_URL: database.url });
    expect(unused).toMatchObject({
      verdict: "warn",
      advice: expect.stringMatching(/^Remove DATABASE_DIRECT_URL/),
    });
  });
});

const sound: PostgresFacts = {
  ...{ version: 170_002, maxConnections: 100, usedConnections: 10, encoding: "UTF8" },
  ...{ fsync: "on", fullPageWrites: "on", synchronousCommit: "on" },
};

test.each([
  ["another journal mode", { journal: "delete" }, "warn"],
  ["a damaged page", { check: "Tree 5 page 9: btreeInitPage() returns error code 11" }, "fail"],
  ["a check that takes too long", { check: null }, "warn"],
] as const)("SQLite with %s is judged", (_, facts, verdict) => {
  expect(judgeSqlite({ version: "3.50.4", journal: "wal", check: "ok", ...facts })).toMatchObject([
    { verdict },
  ]);
});

test.each([
  ["an old version", { version: 120_000 }, "fail"],
  ["fsync off", { fsync: "off" }, "fail"],
  ["full_page_writes off", { fullPageWrites: "off" }, "fail"],
  ["synchronous_commit off", { synchronousCommit: "off" }, "fail"],
  ["another encoding", { encoding: "LATIN1" }, "fail"],
  ["too few free connections", { usedConnections: 80 }, "warn"],
  ["sound settings", {}, "ok"],
] as const)("PostgreSQL with %s is judged", (_, facts, verdict) => {
  expect(judgePostgres({ ...sound, ...facts }, "all")).toMatchObject([{ verdict }]);
});

test.each([
  [
    "has every change",
    { problem: null, secondsBehind: 0 },
    "ok",
    "the replica is a standby of the primary, 0 s behind",
  ],
  ["is far behind", { problem: null, secondsBehind: 60 }, "warn", "the replica is 60 s behind the primary"],
  [
    "is not a standby",
    { problem: "is not a standby: it accepts writes", secondsBehind: null },
    "warn",
    "the replica is not a standby: it accepts writes",
  ],
] as const)("a replica that %s is judged", (_, state, verdict, found) => {
  expect(judgeReplica(state)).toMatchObject({ verdict, found });
});

describe("the storage", () => {
  test("of a folder takes, returns and deletes bytes, and keeps none; a folder that cannot be written fails", async () => {
    const DATA_DIR = mkdtempSync(join(tmpdir(), "doctor-"));
    mkdirSync(join(DATA_DIR, "files"));
    expect((await examined({ DATA_DIR })).of("storage")).toMatchObject([
      { verdict: "ok", found: expect.stringContaining("takes, returns") },
    ]);
    const files = readdirSync(DATA_DIR, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files.map(({ name }) => name)).toEqual([]);
    rmSync(join(DATA_DIR, "files"), { recursive: true });
    writeFileSync(join(DATA_DIR, "files"), "no folder");
    expect((await examined({ DATA_DIR })).of("storage")).toMatchObject([
      { verdict: "fail", advice: expect.stringContaining("DATA_DIR") },
    ]);
    rmSync(DATA_DIR, { recursive: true });
  });

  test("of a bucket is left as it was; a bucket that there is not fails", async () => {
    await using s3 = await startS3();
    const { endpoint, name } = s3.bucket;
    const env = {
      S3_ENDPOINT: endpoint ?? "",
      S3_REGION: "us-east-1",
      S3_ACCESS_KEY_ID: "S3RVER",
      S3_SECRET_ACCESS_KEY: "S3RVER",
    };
    const of = async (bucket: string) =>
      (await examined({ ...env, S3_BUCKET: bucket, S3_PATH_STYLE: "on" })).of("storage");
    expect(await of(name)).toMatchObject([{ verdict: "ok" }]);
    expect(s3.objects()).toEqual([]);
    expect(await of("absent")).toMatchObject([{ verdict: "fail", advice: expect.stringContaining("S3_") }]);
  });
});

describe("an outgoing request", () => {
  test("goes by the guarded path, which refuses addresses that are not allowed", async () => {
    const refused = await examined({ WEBHOOK_ALLOW: "" });
    expect(refused.of("egress")).toMatchObject([
      { verdict: "warn", advice: expect.stringContaining("firewall") },
    ]);
    expect((await examined({})).of("egress")[0]?.found).toContain("answers 200");
  });

  test("to a name that is not valid, or a closed port, is a warning", async () => {
    expect((await examined({}, await closedUrl("http"))).of("egress")[0]).toMatchObject({
      verdict: "warn",
      found: expect.stringContaining("ECONNREFUSED"),
    });
  });
});

describe("the public address", () => {
  test("fails when it answers with an error, or has no answer", async () => {
    await using broken = await openReceiver(answering(502));
    expect((await examined({ BASE_URL: broken.url })).of("public")).toMatchObject([
      { verdict: "fail", found: expect.stringContaining("answers 502") },
    ]);
    const away = await examined({ BASE_URL: await closedUrl("http") });
    expect([away.code, away.of("public")]).toMatchObject([
      1,
      [{ verdict: "fail", found: expect.stringContaining("ECONNREFUSED") }],
    ]);
  });

  test("with a certificate that no one knows and that ends soon fails, and says both", async () => {
    await using secure = await openReceiver(answering(200), selfSigned(home));
    expect((await examined({ BASE_URL: secure.url })).of("public")).toMatchObject([
      { verdict: "fail", found: expect.stringContaining("SELF_SIGNED") },
      {
        verdict: "warn",
        found: expect.stringMatching(/^the certificate ends on \d{4}-\d\d-\d\d, in [012] days$/),
      },
    ]);
  });

  test("has another time when the clock of this machine is wrong", async () => {
    const date = new Date(Date.now() - 3_600_000).toUTCString();
    await using late = await openReceiver(answering(200, { date }));
    expect((await examined({ BASE_URL: late.url })).of("clock")).toMatchObject([
      {
        verdict: "fail",
        found: expect.stringMatching(/differs by 3(599|600)\.\d s$/),
        advice: expect.stringContaining("NTP"),
      },
    ]);
  });

  test.each([
    [-1, "fail"],
    [5, "warn"],
    [90, "ok"],
  ] as const)("with %i days of its certificate left is judged", (days, verdict) => {
    expect(judgeCertificate(new Date(1e12 + (days + 0.5) * 86_400_000), 1e12)).toMatchObject({ verdict });
  });

  test.each([
    [1_000, "ok"],
    [-5_000, "warn"],
    [-40_000, "fail"],
  ] as const)("a difference of %i ms between clocks is judged", (ms, verdict) => {
    expect(judgeSkew("x", ms)).toMatchObject({ verdict });
  });
});

describe("services", () => {
  test("a mail server is greeted and gets no mail; one that refuses the password or is away fails", async () => {
    await using server = await openMailServer({
      authOptional: false,
      onAuth: (auth, _, done) => done(null, auth.password === "good" ? { user: "ann" } : {}),
    });
    const of = async (url: string) =>
      (await examined({ SMTP_URL: url, MAIL_FROM: "a@example.com" })).of("mail");
    expect(await of(server.url.replace("//", "//ann:good@"))).toMatchObject([{ verdict: "ok" }]);
    expect(await of(server.url.replace("//", "//ann:hunter2@"))).toMatchObject([
      { verdict: "fail", found: expect.not.stringContaining("hunter2") },
    ]);
    expect(await of(await closedUrl("smtp"))).toMatchObject([
      { verdict: "fail", advice: expect.stringContaining("SMTP_URL") },
    ]);
    expect(server.received).toEqual([]);
  });

  test("each model is reached with its key; a refused key and an endpoint that is away fail", async () => {
    await using good = await openReceiver(answering(200));
    await using refusing = await openReceiver(answering(401));
    const model = (base_url: string) => ({
      api: "openai",
      base_url,
      model: "m",
      context_tokens: 32000,
      api_key_env: "MODEL_KEY",
    });
    const models = {
      good: model(good.url),
      refusing: model(refusing.url),
      away: model(await closedUrl("http")),
    };
    const path = join(home, "models.json");
    writeFileSync(path, JSON.stringify(models));
    const { of, out } = await examined({ MODELS_FILE: path, MODEL_KEY: "very-secret" });
    expect(of("models"), out).toMatchObject([
      { verdict: "ok", found: `good: ${good.url} answers 200` },
      { verdict: "fail", found: expect.stringContaining("401: it refuses the key") },
      { verdict: "fail", found: expect.stringContaining("ECONNREFUSED") },
    ]);
    expect(good.headers().authorization).toBe("Bearer very-secret");
    expect(out).not.toContain("very-secret");
  });

  test("the identity provider describes itself; one of another issuer fails", async () => {
    await using provider = await openAuthorizationServer();
    const env = { OIDC_CLIENT_ID: "x", OIDC_CLIENT_SECRET: "y" };
    expect((await examined({ ...env, OIDC_ISSUER: provider.issuer })).of("sign-in")).toMatchObject([
      { verdict: "ok" },
    ]);
    const other = await examined({ ...env, OIDC_ISSUER: outside.url });
    expect(other.of("sign-in")).toMatchObject([
      { verdict: "fail", advice: expect.stringContaining("OIDC_ISSUER") },
    ]);
  });

  test("that never answer end with their check, while the others continue", async () => {
    const waits = {
      name: "silent",
      advice: "Wait.",
      run: (signal: AbortSignal) => new Promise<never>((_, no) => signal.addEventListener("abort", no)),
    };
    const fast = { name: "fast", advice: "", run: async () => [ok("done")] };
    expect(await examine([waits, fast], 20)).toEqual([
      { name: "silent", verdict: "fail", found: "no answer within 0.02 s", advice: "Wait." },
      { name: "fast", verdict: "ok", found: "done" },
    ]);
  });
});

describe("atp doctor and the sandbox of commands", () => {
  const fake = "/bin/sh {workspace}/missing";
  const hasBubblewrap =
    !lacks("bubblewrap") &&
    spawnSync("/usr/bin/bwrap", ["--unshare-all", "--ro-bind", "/", "/", "/bin/true"]).status === 0;

  test.skipIf(!hasBubblewrap)(
    "the documented line has nothing of the machine, and the check says as whom it runs",
    async () => {
      const { of } = await examined({ SANDBOX_COMMAND: bubblewrapLine, ...sandboxUser });
      expect(of("sandbox")).toMatchObject([
        { verdict: "ok", found: expect.stringMatching(/^starts as uid \d+, .* no network, no \/etc/) },
      ]);
    },
  );

  test.skipIf(!hasBubblewrap)("a line that shares the machine is named with the line to use", async () => {
    const { of } = await examined({
      SANDBOX_COMMAND: "/usr/bin/bwrap --bind / / --chdir {workspace} /bin/sh -c",
      ...sandboxUser,
    });
    expect(of("sandbox").map(({ found }) => found)).toEqual(
      expect.arrayContaining([
        expect.stringContaining("has the network"),
        expect.stringContaining("/etc of this machine"),
      ]),
    );
    for (const { advice } of of("sandbox")) expect(advice).toContain(bubblewrapLine);
  });

  test.skipIf(!hasBubblewrap || process.getuid?.() !== 0)(
    "as root a line without /proc/sys read-only is a way out, and fails",
    async () => {
      // The probe opens the file and writes nothing.
      const command = bubblewrapLine.replace("--ro-bind /proc/sys /proc/sys ", "").split(" ");
      const signal = new AbortController().signal;
      const { output } = await withFolder(
        () => undefined,
        (folder) => runIn(folder, { command, user: null }, probe, { seconds: 8, signal }),
      );
      expect(judgeSandbox(output, 0)).toMatchObject([
        {
          verdict: "fail",
          found: expect.stringContaining("core_pattern"),
          advice: expect.stringContaining(bubblewrapLine),
        },
      ]);
    },
  );

  test.skipIf(process.getuid?.() !== 0)(
    "as root without another user commands are off, and the check says what to set",
    async () => {
      const { code, of } = await examined({ SANDBOX_COMMAND: fake });
      expect([code, of("sandbox")]).toMatchObject([
        1,
        [{ verdict: "fail", advice: expect.stringContaining("SANDBOX_UID and SANDBOX_GID") }],
      ]);
    },
  );

  test("a program that runs no command fails with its words", async () => {
    const { of } = await examined({ SANDBOX_COMMAND: fake, ...sandboxUser });
    expect(of("sandbox")).toMatchObject([
      { verdict: "fail", found: expect.stringContaining("a command does not run in it") },
    ]);
  });
});
