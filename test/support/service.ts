import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { loadConfig } from "../../src/config.ts";
import type { Role } from "../../src/core/accounts/account.ts";
import type { KeyKind } from "../../src/core/caller.ts";
import { cipherFrom } from "../../src/core/cipher.ts";
import type { Clock } from "../../src/core/clock.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { keyDigest, newKeyText } from "../../src/core/keys/api-key.ts";
import type { Log } from "../../src/core/log.ts";
import type { Store } from "../../src/core/store.ts";
import { startPlatform } from "../../src/platform.ts";
import { type DatabaseKind, openTestStore, type TestStore } from "./database.ts";
import { callV2, clientOf, type RpcWire, type V2Call, type V2Reply } from "./wires.ts";

/** Somebody with a key. */
export interface Person {
  readonly key: string;
  readonly keyId: string;
  readonly accountId: string;
  readonly spaceId: string;
  /** A v2 call with this person's key. */
  v2(name: string, body?: unknown, call?: V2Call): Promise<V2Reply>;
  /** A client with this person's key. */
  client<S extends DescService>(service: S, wire?: RpcWire): Client<S>;
}

export interface PersonOptions {
  readonly role?: Role;
  /** A colleague: in the same team. */
  readonly with?: Person;
  readonly personal?: boolean;
  readonly kind?: KeyKind;
  readonly expiresAt?: number;
}

/** A whole platform in this process: only the clock and the database are the test's. */
export interface Service extends AsyncDisposable {
  readonly url: string;
  readonly store: Store;
  /** The statements that went to the database so far; to be counted. */
  readonly statements: string[];
  readonly logged: readonly { readonly level: string; readonly text: string }[];
  /** A new person, owner of a team of its own unless told otherwise. */
  person(options?: PersonOptions): Promise<Person>;
  drain(): Promise<void>;
}

export interface ServiceOptions {
  readonly database?: DatabaseKind;
  /** Environment variables, as an operator would set them. */
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Serve over a store that is open already, for instance as a second process would. */
  readonly over?: TestStore;
}

export async function openService({ database = "sqlite", env = {}, clock = systemClock, over }: ServiceOptions = {}): Promise<Service> {
  const statements: string[] = [];
  const logged: { level: string; text: string }[] = [];
  const log: Log = (level, text) => void logged.push({ level, text });
  const test = over ?? (await openTestStore(database, { clock, onStatement: (sql) => void statements.push(sql) }));
  const config = loadConfig({
    PORT: "0",
    BASE_URL: "http://platform.test",
    RATE_LIMITS: "off",
    DRAIN_SECONDS: "1",
    DATABASE_URL: test.url,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
    ...env,
  });
  const cipher = cipherFrom(Buffer.alloc(32, 7), systemRandom);
  const platform = await startPlatform(config, test.store, cipher, { clock, ids: systemIds, random: systemRandom, log });
  const url = `http://127.0.0.1:${platform.port}`;
  let drained: Promise<void> | undefined;
  const drain = () => (drained ??= platform.drain());
  return {
    url,
    store: test.store,
    statements,
    logged,
    person: (options) => newPerson(test.store, url, clock, options),
    drain,
    async [Symbol.asyncDispose]() {
      await drain();
      if (!over) await test[Symbol.asyncDispose]();
    },
  };
}

let people = 0;

async function newPerson(store: Store, url: string, clock: Clock, { role = "owner", with: colleague, personal = false, kind = "general", expiresAt }: PersonOptions = {}): Promise<Person> {
  const now = clock.now();
  people += 1;
  const email = `person-${people}-${systemIds.short()}@example.com`.toLowerCase();
  const account = { id: systemIds.uuid(), email, name: null, locale: "en", createdAt: now };
  const key = newKeyText(systemRandom);
  const keyId = systemIds.short();
  const spaceId = colleague?.spaceId ?? systemIds.short();
  await store.change(async (tx) => {
    await tx.accounts.insertAccount(account);
    if (!colleague) {
      await tx.accounts.insertSpace({ id: spaceId, kind: personal ? "personal" : "team", createdAt: now, accountId: personal ? account.id : null });
      if (!personal) await tx.accounts.insertTeam({ id: `team-${spaceId}`, spaceId, name: `Team ${spaceId}`, createdAt: now });
    }
    if (!personal) {
      const teamId = `team-${spaceId}`;
      await tx.accounts.insertMember({ id: systemIds.short(), teamId, spaceId, accountId: account.id, email, role, status: "active", createdAt: now });
    }
    await tx.keys.insert({ id: keyId, accountId: account.id, spaceId, kind, name: "test", digest: keyDigest(key), createdAt: now, expiresAt: expiresAt ?? null, revokedAt: null });
  });
  const headers = { "x-service-api-key": key };
  return {
    key,
    keyId,
    accountId: account.id,
    spaceId,
    v2: (name, body = {}, call = {}) => callV2(url, name, body, { ...call, headers: { ...headers, ...call.headers } }),
    client: (service, wire = "connect-json") => clientOf(service, wire, url, headers),
  };
}
