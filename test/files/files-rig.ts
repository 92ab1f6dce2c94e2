import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import type { Clock } from "../../src/core/clock.ts";
import type { Store } from "../../src/core/store.ts";
import type { ProveDomain } from "../../src/core/websites/domain.ts";
import { type DatabaseKind, openTestStore, type TestDatabase } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { hangMs } from "../support/patience.ts";
import { type Calling, openService, readSegmentOf, type Service } from "../support/service.ts";

/** A platform with its own folder for bytes. */
export interface FilePlatform extends AsyncDisposable {
  readonly service: Service;
  readonly database: TestDatabase;
  /** The folder of the bytes. */
  readonly folder: string;
  /** The bytes in its storage: paths relative to its folder. */
  stored(): readonly string[];
  /** Maps a link of the platform to an address that this test can reach. */
  reach(link: string): string;
}

export interface FilePlatformOptions {
  readonly clock?: Clock;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodes?: number;
  /** False: tasks run. */
  readonly idle?: boolean;
  readonly prove?: ProveDomain;
}

export async function openFilePlatform(
  kind: DatabaseKind,
  { env = {}, clock, nodes = 1, idle = true, prove }: FilePlatformOptions = {},
): Promise<FilePlatform> {
  const dataDir = mkdtempSync(join(tmpdir(), "files-"));
  const places = { DATA_DIR: dataDir, ...env };
  const readSegment = readSegmentOf(places, (...line) => service.log(...line));
  const database = await openTestStore(kind, { ...(clock && { clock }), readSegment });
  const timed = { ...(clock ? { clock } : {}), ...(prove ? { prove } : {}) };
  const service: Service = await openService({ over: database, nodes, idle, env: places, ...timed });
  return {
    service,
    database,
    folder: join(dataDir, "files"),
    stored: () => storedFiles(dataDir),
    reach: (link) => link.replace("https://platform.test", service.url),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Paths of the files with bytes in a data folder. */
export function storedFiles(dataDir: string): readonly string[] {
  const folder = join(dataDir, "files");
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}

/** A slot as file.upload returns it. */
export interface UploadSlot {
  readonly id: string;
  readonly url: string;
  readonly until: number;
}

export async function createSlot(
  platform: Pick<FilePlatform, "reach">,
  person: Calling,
  filename = "notes.txt",
): Promise<UploadSlot> {
  const { status, body } = await person.v2("file.upload", { filename });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { id: body["file"].id, url: platform.reach(body["upload_url"]), until: body["upload_expires_at"] };
}

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream;

/** A raw PUT, as clients send it. */
export async function put(
  url: string,
  body: Body,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const streamed = body instanceof ReadableStream ? { duplex: "half" as const } : {};
  const reply = await fetch(url, { method: "PUT", headers, body, ...streamed });
  return { status: reply.status, headers: reply.headers, body: JSON.parse(await reply.text()) };
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is read as the client sees it
  readonly body: any;
}

/** An uploaded file. */
export async function uploadFile(
  platform: Pick<FilePlatform, "reach">,
  person: Calling,
  bytes: Body = "Hello.",
  filename?: string,
): Promise<UploadSlot> {
  const slot = await createSlot(platform, person, filename);
  const { status, body } = await put(slot.url, bytes);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return slot;
}

/** The answer of file.detail. */
export const fileDetail = async (person: Calling, file_id: string) =>
  (await person.v2("file.detail", { file_id })).body["file"];

export const sha256 = (bytes: string | Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex");

/** A PUT that can be held open, sent in parts and cut. */
export interface OpenPut {
  send(bytes: string | Uint8Array): Promise<void>;
  end(): void;
  cut(): void;
  /** The status and the body; rejects once the PUT is cut. */
  readonly answer: Promise<Pick<Answer, "status" | "body">>;
}

export function openPut(url: string, headers: Readonly<Record<string, string | number>> = {}): OpenPut {
  const request = httpRequest(url, { method: "PUT", headers, agent: false });
  const answer = new Promise<Pick<Answer, "status" | "body">>((resolve, reject) => {
    request.once("error", reject);
    request.once("response", (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.once("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    });
  });
  answer.catch(() => undefined);
  request.flushHeaders();
  return {
    answer,
    send: (bytes) => new Promise((resolve) => void request.write(bytes, () => resolve())),
    end: () => void request.end(),
    cut: () => void request.destroy(),
  };
}

/** Waits until `holds` returns true, while background work continues. */
export async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + hangMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`it never held: ${holds}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** All blobs in the database, and whether each account's total matches them. */
export async function readBlobTotals(database: TestDatabase) {
  const blobs = await runDirectly(database, "SELECT id, account_id, state, bytes, lease_until FROM blob");
  const sums = await runDirectly(database, "SELECT account_id, bytes FROM storage");
  const taken = (id: unknown) =>
    blobs
      .filter((row) => row["account_id"] === id && row["state"] !== "dropped")
      .reduce((sum, row) => sum + Number(row["bytes"]), 0);
  return {
    blobs: blobs.map((row) => ({
      ...{ id: String(row["id"]), state: String(row["state"]) },
      ...{ bytes: Number(row["bytes"]), leaseUntil: Number(row["lease_until"]) },
    })),
    isExact: sums.every((row) => Number(row["bytes"]) === taken(row["account_id"])),
  };
}

/** The bytes that an account's files use of its quota. */
export const quotaUsed = (store: Store, { accountId }: { readonly accountId: string }): Promise<number> =>
  store.blobs.usedBytes(accountId);
