import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { type Config, loadConfig } from "../../src/config/config.ts";
import type { Role } from "../../src/core/accounts/account.ts";
import type { KeyKind } from "../../src/core/accounts/caller.ts";
import { ensureDefaultAgents } from "../../src/core/agents/agent.ts";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Disk } from "../../src/core/installation/checks.ts";
import { keyDigest, newKeyText } from "../../src/core/keys/api-key.ts";
import { type KeyRestrictions, noRestrictions } from "../../src/core/keys/restrictions.ts";
import type { Log } from "../../src/core/log.ts";
import type { Store, Tx } from "../../src/core/store.ts";
import type { ReadSegment } from "../../src/core/tasks/segment.ts";
import { segmentReader } from "../../src/core/tasks/segment-file.ts";
import type { ProveDomain } from "../../src/core/websites/domain.ts";
import { openBlobs } from "../../src/modules/blobs.ts";
import { openMetrics, openTelemetry } from "../../src/modules/observing.ts";
import type { Ambient } from "../../src/start/installation.ts";
import { startPlatform } from "../../src/start/platform.ts";
import { openStore } from "../../src/store/open.ts";
import { cipher } from "./cipher.ts";
import { type DatabaseKind, openTestStore, type TestStore } from "./database.ts";
import { type SessionOptions, type SignedIn, signIn } from "./session.ts";
import { callV2, clientOf, type RpcWire, type V2Call, type V2Reply } from "./wires.ts";

/** A caller with a credential. */
export interface Calling {
  /** The credential's headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** A v2 call, to the next node. */
  v2(name: string, body?: unknown, call?: V2Call): Promise<V2Reply>;
  /** A client of the next node. */
  client<S extends DescService>(service: S, wire?: RpcWire): Client<S>;
}

/** Calls with these headers, each the next node. */
export const callingWith = (headers: Readonly<Record<string, string>>, next: () => string): Calling => ({
  headers,
  v2: (name, body = {}, call = {}) =>
    callV2(next(), name, body, { ...call, headers: { ...headers, ...call.headers } }),
  client: (service, wire = "connect-json") => clientOf(service, wire, next(), headers),
});

/** A user with a key. */
export interface Person extends Calling {
  readonly key: string;
  readonly keyId: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** A browser that is signed in as this person, in this person's space. */
  session(options?: SessionOptions): Promise<SignedIn>;
}

export interface PersonOptions {
  readonly role?: Role;
  /** A colleague: in the same team. */
  readonly with?: Pick<Person, "accountId" | "spaceId">;
  /** The same account with another key: in another team, or, together with `with`, in that one's. */
  readonly as?: Pick<Person, "accountId" | "spaceId">;
  /** False: the key remains of an account that never was a member. */
  readonly member?: boolean;
  readonly personal?: boolean;
  readonly kind?: KeyKind;
  readonly expiresAt?: number;
  readonly restrictions?: Partial<KeyRestrictions>;
}

/** A line of the process log. */
export interface LogLine {
  readonly level: string;
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * A complete platform in this process, of one node or several: only the clock and the database belong to the
 * test.
 */
export interface Service extends AsyncDisposable {
  /** The address of a node that accepts calls, on each read that of the next one. */
  readonly url: string;
  readonly nodes: readonly ServiceNode[];
  /** The first node's. */
  readonly store: Store;
  /** The statements sent to the database so far, for counting. */
  readonly statements: string[];
  /** The round trips to the database so far: statements that were sent while no other one was answered. */
  readonly roundTrips: () => number;
  readonly logged: readonly LogLine[];
  /** Logs a line. */
  readonly log: Log;
  /**
   * The logged warnings and errors. Lines at `info` also come by time: refused calls are counted at the end
   * of a minute.
   */
  readonly problems: readonly LogLine[];
  /** A new person, by default the owner of a new team, or a member of a colleague's team. */
  person(options?: PersonOptions): Promise<Person>;
  drain(): Promise<void>;
}

/** One process of a platform, with a separate store. */
export interface ServiceNode {
  readonly url: string;
  readonly store: Store;
  drain(): Promise<void>;
}

export interface ServiceOptions {
  readonly database?: DatabaseKind;
  /** Number of processes on the one database, which must be PostgreSQL for more than one. */
  readonly nodes?: number;
  /** The role of each of them, instead of their number. */
  readonly roles?: readonly Config["role"][];
  /** Environment variables, as an operator would set them. */
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Serve over an open store, for instance as a second process would. */
  readonly over?: Pick<TestStore, "store" | "url">;
  /** Only answers calls and runs no task, so that only the test causes changes. */
  readonly idle?: boolean;
  /** By default every custom domain has its proof, and no name server is asked. */
  readonly prove?: ProveDomain;
  /** The disk of the data folder; by default the machine's, whose free space changes. */
  readonly disk?: Disk;
  /** The time of the database's machine; by default the clock's, which may be far from the machine's. */
  readonly databaseTime?: () => Promise<number | null>;
}

export async function openService({
  database = "sqlite",
  nodes: count = 1,
  roles,
  env = {},
  clock = systemClock,
  over,
  idle = false,
  prove = async () => true,
  disk,
  databaseTime = async () => clock.now(),
}: ServiceOptions = {}): Promise<Service> {
  const statements: string[] = [];
  let [roundTrips, sent] = [0, 0];
  const logged: LogLine[] = [];
  const log: Log = (level, text, fields = {}) => {
    if (level === "debug" && env["LOG_LEVEL"] !== "debug") return;
    logged.push({ level, text, fields });
    telemetry?.recordLine?.(level, text, fields);
  };
  const unopened = configOf("file:/metrics-need-no-database", { ...env, ROLE: "all" }, idle);
  const metrics = await openMetrics(unopened);
  const telemetry = await openTelemetry(unopened, { metrics, log: (...line) => log(...line) });
  const storeOptions = {
    clock,
    log,
    readSegment: readSegmentOf(env, log),
    ...(metrics && { observe: metrics.observe }),
    onStatement: (sql: string) => {
      statements.push(sql);
      if (sent === 0) roundTrips += 1;
      sent += 1;
      return () => {
        sent -= 1;
      };
    },
  };
  const own = over ? undefined : await openTestStore(database, storeOptions);
  const { store, url: databaseUrl } = over ?? (own as TestStore);
  const config = configOf(databaseUrl, env, idle);
  const stores = [store];
  while (stores.length < (roles?.length ?? count))
    stores.push(await openStore({ ...storeOptions, databaseUrl, random: systemRandom }));
  const nodes = await Promise.all(
    stores.map((of, i) =>
      openNode({ ...config, role: roles?.[i] ?? config.role }, of, {
        ...{
          clock,
          ids: systemIds,
          random: systemRandom,
          log,
          prove,
          ...(metrics && { metrics }),
          ...(telemetry && { telemetry }),
        },
        databaseTime,
        ...(disk && { readDisk: async () => disk }),
      }),
    ),
  );
  const next = roundRobin(nodes.filter((_, i) => roles?.[i] !== "worker"));
  const drain = async () => void (await Promise.all(nodes.map((node) => node.drain())));
  return {
    get url() {
      return next().url;
    },
    nodes,
    store,
    statements,
    roundTrips: () => roundTrips,
    logged,
    log,
    get problems() {
      // An idle service leaves tasks waiting.
      const isExpected = (text: string) => idle && text.includes(" wait for more than a minute");
      return logged.filter(({ level, text }) => (level === "warn" || level === "error") && !isExpected(text));
    },
    person: (options) =>
      newPerson(store, { next: () => next().url, clock, consentUrl: config.consentUrl }, options),
    drain,
    async [Symbol.asyncDispose]() {
      await drain();
      for (const other of stores.slice(1)) await other.close();
      await telemetry?.stop();
      await own?.[Symbol.asyncDispose]();
    },
  };
}

/** Reads archived events from the storage of these settings. */
export const readSegmentOf = (env: Readonly<Record<string, string>>, log: Log): ReadSegment =>
  segmentReader({
    blobs: openBlobs(configOf("file:/not-opened", { ...env, ROLE: "all" }, true)),
    cipher,
    log,
  });

function configOf(databaseUrl: string, env: Readonly<Record<string, string>>, idle: boolean): Config {
  const config = loadConfig({
    PORT: "0",
    BASE_URL: "https://platform.test",
    RATE_LIMITS: "off",
    DRAIN_SECONDS: "1",
    DATABASE_URL: databaseUrl,
    DATA_DIR_SHARED: "true",
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
    ...env,
  });
  // SQLite's configuration has no roles: its one process does everything.
  return idle ? { ...config, role: "api" } : config;
}

async function openNode(config: Config, store: Store, outside: Ambient): Promise<ServiceNode> {
  const platform = await startPlatform(config, store, cipher, outside);
  let drained: Promise<void> | undefined;
  return {
    url: `http://127.0.0.1:${platform.port}`,
    store,
    drain: () => (drained ??= platform.drain()),
  };
}

/** Returns the items in rotation. */
function roundRobin<T>(all: readonly T[]): () => T {
  let turn = 0;
  return () => {
    const next = all[turn % all.length];
    if (next === undefined) throw new Error("there is none");
    turn += 1;
    return next;
  };
}

let people = 0;

/** The address and the clock of callers. */
interface Place {
  readonly next: () => string;
  readonly clock: Clock;
  readonly consentUrl: string;
}

export async function newPerson(store: Store, place: Place, options: PersonOptions = {}): Promise<Person> {
  const { next, clock } = place;
  const { with: colleague, as: self, kind = "general", expiresAt = null } = options;
  const accountId = self?.accountId ?? systemIds.uuid();
  const spaceId = colleague?.spaceId ?? systemIds.short();
  const key = newKeyText(systemRandom);
  const keyId = systemIds.short();
  const createdAt = clock.now();
  await store.change(async (tx) => {
    await insertPerson(tx, { accountId, spaceId, createdAt }, options);
    await ensureDefaultAgents(tx, { now: createdAt, ids: systemIds });
    await tx.keys.insert({
      id: keyId,
      accountId,
      spaceId,
      kind,
      name: "test",
      digest: keyDigest(key),
      createdAt,
      expiresAt,
      revokedAt: null,
      lastFour: key.slice(-4),
      ...noRestrictions,
      ...options.restrictions,
    });
  });
  return {
    ...callingWith({ "x-service-api-key": key }, next),
    key,
    keyId,
    accountId,
    spaceId,
    session: (asked) => signIn(store, place, { accountId, spaceId }, asked),
  };
}

interface Made {
  readonly accountId: string;
  readonly spaceId: string;
  readonly createdAt: number;
}

/** Account, space, team and membership; existing ones are kept. */
async function insertPerson({ accounts }: Tx, made: Made, options: PersonOptions): Promise<void> {
  const { with: colleague, as: self, personal = false, member = true } = options;
  const { role = colleague ? "member" : "owner" } = options;
  const { accountId, spaceId, createdAt } = made;
  people += 1;
  const email = `person-${people}-${systemIds.short()}@example.com`.toLowerCase();
  const teamId = `team-${spaceId}`;
  if (!self) await accounts.insertAccount({ id: accountId, email, name: null, locale: "en", createdAt });
  if (!colleague) {
    await accounts.insertSpace({
      id: spaceId,
      kind: personal ? "personal" : "team",
      createdAt,
      accountId: personal ? accountId : null,
    });
    if (!personal) await accounts.insertTeam({ id: teamId, spaceId, name: `Team ${spaceId}`, createdAt });
  }
  if (personal || !member || (self && self.spaceId === colleague?.spaceId)) return;
  await accounts.insertMember({
    id: systemIds.short(),
    teamId,
    spaceId,
    accountId,
    email,
    role,
    status: "active",
    createdAt,
  });
}
