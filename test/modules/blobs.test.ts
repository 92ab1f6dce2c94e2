import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import { openBlobs } from "../../src/modules/blobs.ts";
import { startS3 } from "../support/s3-server.ts";

const never = new AbortController().signal;
const postgres = {
  DATABASE_URL: "postgresql://user@127.0.0.1:1/none",
  ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
};

/** The log lines of a start with this environment. */
function logLines(env: Readonly<Record<string, string>>): readonly string[] {
  const lines: string[] = [];
  openBlobs(loadConfig({ DATA_DIR: join(tmpdir(), "never-made"), ...env }), (level, line) =>
    lines.push(`${level}: ${line}`),
  );
  return lines;
}

test("files are kept in the data folder when no bucket is set", async () => {
  const folder = mkdtempSync(join(tmpdir(), "wired-"));
  try {
    await openBlobs(loadConfig({ DATA_DIR: folder })).put("one", Readable.from([Buffer.from("x")]), never);
    expect(readdirSync(join(folder, "files"), { recursive: true }).map(String)).toContainEqual(
      expect.stringMatching(/\/one$/),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("files are kept in the bucket that the environment names", async () => {
  await using server = await startS3();
  const { name, endpoint, credentials } = server.bucket;
  const keys = {
    S3_ACCESS_KEY_ID: credentials?.accessKeyId ?? "",
    S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? "",
  };
  const config = loadConfig({ S3_BUCKET: name, S3_ENDPOINT: endpoint ?? "", S3_PREFIX: "team", ...keys });
  const blobs = openBlobs(config);
  // One client of S3 serves all parts of a process.
  expect(openBlobs(config)).toBe(blobs);
  await blobs.put("one", Readable.from([Buffer.from("in the bucket")]), never);
  expect(server.objects()).toEqual(["team/one"]);
  expect(await text(await blobs.read("one"))).toBe("in the bucket");
  expect(await blobs.address("one", { filename: "a", contentType: "text/plain", seconds: 60 })).toBeNull();
  await blobs.remove("one");
  expect(server.objects()).toEqual([]);
});

test("local files with PostgreSQL cause a warning at the start, and nothing else does", () => {
  expect(logLines(postgres)).toEqual([
    "warn: S3_BUCKET is not set: files are kept on this machine, where other processes cannot read them",
  ]);
  expect(logLines({ ...postgres, S3_BUCKET: "files" })).toEqual([]);
  expect(logLines({ ...postgres, DATA_DIR_SHARED: "true" })).toEqual([]);
  expect(logLines({})).toEqual([]);
});

test("the modules for S3 are loaded only when a bucket is set", async () => {
  const program = (env: string) => `
    import { registerHooks } from "node:module";
    let loaded = false;
    registerHooks({ resolve: (name, context, next) => { loaded ||= name.startsWith("@aws-sdk/"); return next(name, context); } });
    const { loadConfig } = await import("./src/config/config.ts");
    const { openBlobs } = await import("./src/modules/blobs.ts");
    openBlobs(loadConfig(${env}));
    await import("./src/core/files/blob.ts");
    setImmediate(() => setImmediate(() => process.stdout.write(String(loaded))));`;
  const cwd = fileURLToPath(new URL("../..", import.meta.url));
  const run = (env: string) =>
    promisify(execFile)(process.execPath, ["--input-type=module-typescript", "--eval", program(env)], {
      cwd,
    });
  expect((await run("{}")).stdout).toBe("false");
  expect((await run('{ S3_BUCKET: "files" }')).stdout).toBe("true");
});
