import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import { type MoveParts, type MoveReport, move, type Side } from "../../src/backup/move.ts";
import { type Config, loadConfig } from "../../src/config/config.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { findPeers } from "../../src/runtime/peers.ts";
import { openStore } from "../../src/store/open.ts";
import { type PlainTable, plainTables } from "../../src/store/table.ts";
import { cipher } from "../support/cipher.ts";
import { type DatabaseKind, databaseUrl, rowsOfEach } from "../support/database.ts";
import { openService, readSegmentOf, type Service } from "../support/service.ts";

/** A place for an installation: a database, and a folder for the bytes of files. */
export interface MovePlace {
  readonly side: Side;
  readonly config: Config;
  readonly url: string;
  readonly dataDir: string;
  open(): Promise<Store>;
  /** Serves the installation in this place. */
  serve(options?: { readonly idle?: boolean }): Promise<Service>;
}

/** Places for installations, and moves between them. */
export interface MoveRig extends AsyncDisposable {
  /** An empty place; with the folder of another one if it is given. */
  place(kind: DatabaseKind, dataDir?: string): Promise<MovePlace>;
}

export function openMoveRig(): MoveRig {
  const root = mkdtempSync(join(tmpdir(), "move-"));
  const ends: (() => PromiseLike<void>)[] = [];
  let places = 0;
  return {
    async place(kind, shared) {
      const database = await databaseUrl(kind, { empty: true });
      ends.push(() => database[Symbol.asyncDispose]());
      places += 1;
      return placeOf(database.url, shared ?? join(root, `place-${places}`));
    },
    async [Symbol.asyncDispose]() {
      for (const end of ends) await end();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function placeOf(url: string, dataDir: string): MovePlace {
  const env = {
    DATA_DIR: dataDir,
    DATA_DIR_SHARED: "true",
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
  };
  const config = loadConfig({ ...env, DATABASE_URL: url });
  const readSegment = readSegmentOf(env, () => undefined);
  const opening = (isIncomplete: boolean) => (databaseUrl: string) =>
    openStore({ databaseUrl, clock: systemClock, random: systemRandom, isIncomplete, readSegment });
  const open = () => opening(false)(url);
  return {
    ...{
      url,
      dataDir,
      open,
      config,
      side: { config, cipher, blobs: createLocalBlobs(join(dataDir, "files")), open: opening(true) },
    },
    async serve({ idle = true } = {}) {
      const store = await open();
      const service = await openService({
        over: { store, url },
        idle,
        env: { DATA_DIR: dataDir, WEBHOOK_ALLOW: "loopback" },
      });
      return {
        ...service,
        get url() {
          return service.url;
        },
        async [Symbol.asyncDispose]() {
          await service[Symbol.asyncDispose]();
          await store.close();
        },
      };
    },
  };
}

/** Moves an installation; `change` replaces some of the parts. */
export function moveBetween(
  source: MovePlace,
  target: MovePlace,
  change: Partial<MoveParts> = {},
): Promise<MoveReport> {
  return move({
    ...{
      source: source.side,
      target: target.side,
      copiesFiles: false,
      env: process.env,
      now: systemClock.now,
      newId: randomUUID,
    },
    isServed: async (store) => (await findPeers(store.nodes, systemClock)).live !== null,
    onProgress: () => undefined,
    ...change,
  });
}

/** Members that a move makes again. */
const remade: Readonly<Record<string, readonly string[]>> = { task: ["indexed_seq", "texts_behind"] };

/** All rows of all tables, sorted, read without the store; booleans and bytes in one form. */
export async function contentOf(
  url: string,
  except: readonly string[] = [],
): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables = [...plainTables.values()].filter(
    ({ name }) => !["job", "rate_counter", "setting", ...except].includes(name),
  );
  const found = await rowsOfEach(
    url,
    tables.map(({ name }) => `SELECT * FROM ${name}`),
  );
  return Object.fromEntries(
    tables.map((table, index) => [
      table.name,
      (found[index] ?? []).map((row) => plainText(table, row)).toSorted(),
    ]),
  );
}

/** A row as text, its columns in the order of the models. */
const plainText = ({ name, columns }: PlainTable, row: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(
    Object.values(columns)
      .filter(([column]) => !remade[name]?.includes(column))
      .map(([column, kind]) => plainValue(kind, row[column])),
  );

function plainValue(kind: string, value: unknown): unknown {
  if (value === null) return null;
  if (kind === "boolean") return Boolean(value);
  if (kind === "integer") return Number(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
}
