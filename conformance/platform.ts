import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../src/config/config.ts";
import type { Clock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import type { Json, JsonObject } from "../src/core/json.ts";
import { createKey } from "../src/core/keys/api-key.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import type { Store } from "../src/core/store.ts";
import { createFirstAccount } from "../src/core/use-cases/initialize-installation.ts";
import { createWorker } from "../src/core/workers/worker.ts";
import { openInstallation } from "../src/start/installation.ts";
import { type Platform, startPlatform } from "../src/start/platform.ts";

/** The profile of the kit's tasks, which workers receive as PROFILES. */
export const profile = "manus-1.6";

/** A temporary platform in this process and in a temporary folder. All its tasks are for workers. */
export interface ScratchPlatform extends AsyncDisposable {
  /** Its current port; null while it is stopped. */
  readonly port: number | null;
  readonly store: Store;
  /** The credential of the checked worker. */
  readonly workerKey: string;
  /** The ID of another worker, which makes no calls. */
  readonly otherWorkerId: string;
  /** Makes a call as the user. @throws Error if it is refused. */
  user(name: string, body: JsonObject): Promise<JsonObject>;
  /** Revokes the credential of the checked worker. */
  revoke(): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** @param baseUrl the URL for workers: that of the proxy. */
export async function scratchPlatform(clock: Clock, baseUrl: string): Promise<ScratchPlatform> {
  const folder = await mkdtemp(join(tmpdir(), "worker-check-"));
  const config = loadConfig({
    PORT: "0",
    BASE_URL: baseUrl,
    DATA_DIR: folder,
    RATE_LIMITS: "off",
    DRAIN_SECONDS: "1",
    AGENT_PROFILES: "manus-1.6=remote,manus-1.6-lite=remote,manus-1.6-max=remote",
  });
  const ambient = { clock, ids: systemIds, random: systemRandom, log: () => undefined };
  const making = () => ({ now: clock.now(), ids: systemIds, random: systemRandom });
  const { store, cipher } = await openInstallation(config, ambient, async (tx) => {
    await createFirstAccount(tx, making(), config.ownerEmail);
  });
  const { key, spaceId, workers } = await store.change(async (tx) => {
    const owner = await findRecipient(tx, { kind: "general" });
    const settings = { spaceId: owner.spaceId, createdBy: owner.accountId, profiles: [] };
    const { text } = await createKey(tx, making(), { ...owner, kind: "general", name: "worker-check" });
    const checked = await createWorker(tx, making(), { ...settings, name: "checked" });
    const other = await createWorker(tx, making(), { ...settings, name: "other" });
    return {
      key: text,
      spaceId: owner.spaceId,
      workers: { checked: checked.text, checkedId: checked.worker.id, other: other.worker.id },
    };
  });
  let platform: Platform | null = await startPlatform(config, store, cipher, ambient);
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
    revoke: () =>
      store.change(async (tx) => void (await tx.workers.revoke(spaceId, workers.checkedId, clock.now()))),
    stop,
    async start() {
      platform ??= await startPlatform(config, store, cipher, ambient);
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
  const answer = (await reply.json()) as Json; // The response is JSON.
  if (!reply.ok || typeof answer !== "object" || answer === null || Array.isArray(answer))
    throw new Error(`${url}: ${JSON.stringify(answer)}`);
  return answer as JsonObject; // It is neither null nor an array.
}
