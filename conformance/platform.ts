import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../src/config.ts";
import { makeFirstAccount } from "../src/core/accounts/first-start.ts";
import type { Clock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import type { Json, JsonObject } from "../src/core/json.ts";
import { makeKey } from "../src/core/keys/make-key.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import type { Store } from "../src/core/store.ts";
import { makeWorker } from "../src/core/workers/make-worker.ts";
import { openInstallation } from "../src/installation.ts";
import { type Platform, startPlatform } from "../src/platform.ts";

/** The profile that tasks of the kit have; workers are told of it. */
export const profile = "manus-1.6";

/** A platform of the kit's own, in this process and in a folder that goes with it. All its tasks are left to workers. */
export interface ScratchPlatform extends AsyncDisposable {
  /** Where it listens now; null while it is stopped. */
  readonly port: number | null;
  readonly store: Store;
  /** A credential for the worker that is checked. */
  readonly workerKey: string;
  /** The id of another worker, which never calls. */
  readonly otherWorkerId: string;
  /** A call of the user. @throws Error when it is refused. */
  user(name: string, body: JsonObject): Promise<JsonObject>;
  /** Takes the credential of the worker that is checked back. */
  revoke(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** @param baseUrl what workers take it for: the proxy before it. */
export async function scratchPlatform(clock: Clock, baseUrl: string): Promise<ScratchPlatform> {
  const folder = await mkdtemp(join(tmpdir(), "worker-check-"));
  const config = loadConfig({
    ...{ PORT: "0", BASE_URL: baseUrl, DATA_DIR: folder, RATE_LIMITS: "off", DRAIN_SECONDS: "1" },
    AGENT_PROFILES: "manus-1.6=remote,manus-1.6-lite=remote,manus-1.6-max=remote",
  });
  const outside = { clock, ids: systemIds, random: systemRandom, log: () => undefined };
  const making = () => ({ now: clock.now(), ids: systemIds, random: systemRandom });
  const { store, cipher } = await openInstallation(config, outside, async (tx) => {
    await makeFirstAccount(tx, making(), config.ownerEmail);
  });
  const { key, spaceId, workers } = await store.change(async (tx) => {
    const owner = await findRecipient(tx, { kind: "general" });
    const wanted = { spaceId: owner.spaceId, createdBy: owner.accountId, profiles: [] };
    const { text } = await makeKey(tx, making(), { ...owner, kind: "general", name: "worker-check" });
    const checked = await makeWorker(tx, making(), { ...wanted, name: "checked" });
    const other = await makeWorker(tx, making(), { ...wanted, name: "other" });
    return { key: text, spaceId: owner.spaceId, workers: { checked: checked.text, checkedId: checked.worker.id, other: other.worker.id } };
  });
  let platform: Platform | null = await startPlatform(config, store, cipher, outside);
  const stop = async () => {
    const running = platform;
    platform = null;
    await running?.drain();
  };
  return {
    get port() {
      return platform?.port ?? null;
    },
    store,
    workerKey: workers.checked,
    otherWorkerId: workers.other,
    user: (name, body) => callUser(`http://127.0.0.1:${platform?.port}/v2/${name}`, key, body),
    revoke: () => store.change(async (tx) => void (await tx.workers.revoke(spaceId, workers.checkedId, clock.now()))),
    stop,
    async start() {
      platform ??= await startPlatform(config, store, cipher, outside);
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function callUser(url: string, key: string, body: JsonObject): Promise<JsonObject> {
  const headers = { "content-type": "application/json", "x-service-api-key": key };
  const reply = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const said = (await reply.json()) as Json; // JSON is what it says.
  if (!reply.ok || typeof said !== "object" || said === null || Array.isArray(said)) throw new Error(`${url}: ${JSON.stringify(said)}`);
  return said as JsonObject; // It is neither null nor a list.
}
