import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import type { FastifyServerFactoryHandler } from "fastify";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/variable.ts";
import { ensureDefaultAgents } from "../core/agents/agent.ts";
import { cipherFrom, type KeyRing } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import type { Ids, Random } from "../core/ids.ts";
import type { Disk } from "../core/installation/checks.ts";
import type { Log } from "../core/log.ts";
import { checkNotHeld } from "../core/processes/hold.ts";
import { followKey, type KeyFault } from "../core/processes/key-rotation.ts";
import type { Store, Tx } from "../core/store.ts";
import { segmentReader } from "../core/tasks/segment-file.ts";
import type { ProveDomain } from "../core/websites/domain.ts";
import type { ReadRequest } from "../http/request.ts";
import { openBlobs } from "../modules/blobs.ts";
import type { Metrics } from "../observability/metrics/metrics.ts";
import type { Telemetry } from "../observability/telemetry/otlp.ts";
import type { Admit } from "../pipeline/admit.ts";
import type { HandlerTable } from "../pipeline/handlers.ts";
import { databaseLocation, pathOf } from "../store/backend.ts";
import { makeFolder } from "../store/folder.ts";
import { openStore } from "../store/open.ts";
import type { Post } from "../webhooks/post.ts";
import { openEncryptionKey, readEncryptionKey, readPreviousKey } from "./encryption-key.ts";

/** A process's environment: clock, random sources and log. Tests pass their own. */
export interface Ambient {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Log;
  /** Looks for the proofs of custom domains; by default in the DNS and on the domain. */
  readonly prove?: ProveDomain;
  /** Reads the space of the disk that a folder is on; by default from the system. */
  readonly readDisk?: (folder: string) => Promise<Disk>;
  /** Reads the time of the database's machine; by default asks the database. */
  readonly databaseTime?: () => Promise<number | null>;
  /** The metrics of a server with an ADMIN_PORT. */
  readonly metrics?: Metrics;
  /** The traces of a server with a collector. */
  readonly telemetry?: Pick<Telemetry, "tracing">;
  readonly test?: TestMode;
}

/** What a server has in addition in test mode (`modules/test-mode`). No other server has it. */
export interface TestMode {
  /** Services that are in no document. */
  readonly services: readonly DescService[];
  readonly handlers: (opened: Installation) => HandlerTable;
  /** Serves all requests to the server. */
  readonly serve: (handler: FastifyServerFactoryHandler) => FastifyServerFactoryHandler;
  readonly store: (store: Store) => Store;
  readonly read: (read: ReadRequest) => ReadRequest;
  readonly admit: (admit: Admit) => Admit;
  /** Sends requests to webhooks and receivers of push notifications. */
  readonly post: (post: Post) => Post;
}

/** An open installation: its database is migrated and belongs to the encryption key. */
export interface Installation {
  readonly store: Store;
  readonly cipher: KeyRing;
}

/**
 * Opens the data folder and the database for a server, and creates them if they are missing.
 *
 * @param first runs in a change before anything else is written; other starting processes wait for it.
 * @throws ConfigError when the database belongs to another encryption key; Failure when folder or database
 * cannot be opened, with a message for operators.
 */
export async function openInstallation(
  config: Config,
  ambient: Ambient,
  first: (tx: Tx) => Promise<void>,
): Promise<Installation> {
  makeFolder(config.dataDir, "DATA_DIR");
  const cipher = cipherFrom(
    await openEncryptionKey(config, ambient.random),
    ambient.random,
    await readPreviousKey(config),
  );
  const readSegment = segmentReader({ blobs: openBlobs(config), cipher, log: ambient.log });
  const prepare = preparation(ambient, cipher, first);
  return { store: await openStore({ ...storeOptions(config, ambient), readSegment, prepare }), cipher };
}

/**
 * Opens an existing installation for a command; creates nothing.
 *
 * @throws ConfigError when there is none, with its expected location; otherwise as `openInstallation`.
 */
export async function openExisting(config: Config, ambient: Ambient): Promise<Installation> {
  const ifMissing = new ConfigError([
    {
      variable: "DATA_DIR",
      text: `no installation in ${installationLocation(config)}; set DATA_DIR or DATABASE_URL`,
    },
  ]);
  if (config.database === "sqlite" && !existsSync(pathOf(config.databaseUrl))) throw ifMissing;
  // A database can be migrated and have no account yet.
  const prepare = async ({ accounts }: Store) => {
    if ((await accounts.firstTeam()) === null) throw ifMissing;
  };
  const store = await openStore({ ...storeOptions(config, ambient), prepare, ifMissing });
  try {
    const cipher = cipherFrom(await readEncryptionKey(config), ambient.random, await readPreviousKey(config));
    await preparation(ambient, cipher)(store);
    return { store, cipher };
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

/**
 * The location of an installation for messages: its folder, or its database if that is outside the folder.
 */
export const installationLocation = ({
  dataDir,
  databaseUrl,
}: Pick<Config, "dataDir" | "databaseUrl">): string =>
  databaseUrl === `file:${join(dataDir, "platform.db")}` ? dataDir : databaseLocation(databaseUrl);

const storeOptions = (
  { databaseUrl, poolerUrl, databaseReadUrl, slowStatementMs }: Config,
  { clock, random, log, metrics }: Ambient,
) => ({
  databaseUrl,
  poolerUrl,
  readUrl: databaseReadUrl,
  slowStatementMs,
  clock,
  random,
  log,
  ...(metrics && { observe: metrics.observe }),
});

/** Returns the preparation of an opened database, which runs in one change. */
const preparation =
  ({ clock, ids }: Ambient, cipher: KeyRing, first?: (tx: Tx) => Promise<void>) =>
  (store: Store) =>
    store.change(async (tx) => {
      await checkKey(tx, cipher);
      // Commands can open a held installation, servers cannot.
      if (first) await checkNotHeld(tx);
      await first?.(tx);
      await ensureDefaultAgents(tx, { now: clock.now(), ids });
    });

const keyFaults: Readonly<Record<KeyFault, string>> = {
  other_key:
    "ENCRYPTION_KEY is not the key that this database was created with; to replace the key, see docs/operate/secrets.md (ENCRYPTION_KEY_PREVIOUS)",
  previous_key_missing:
    "ENCRYPTION_KEY is rotated, and the database may have values of the old key: set ENCRYPTION_KEY_PREVIOUS to it until ./atp rotate-key --finish",
};

/** A node with another key than the database's stops before it writes (spec/decisions.md 22). */
export async function checkKey(tx: Tx, cipher: KeyRing): Promise<void> {
  const fault = await followKey(tx, cipher);
  if (fault !== null) throw new ConfigError([{ variable: "ENCRYPTION_KEY", text: keyFaults[fault] }]);
}
