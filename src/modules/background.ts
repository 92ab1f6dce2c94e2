import { version } from "../config/version.ts";
import type { Refusals } from "../core/audit/refusals.ts";
import { keyUses } from "../core/keys/api-keys.ts";
import { type SigningKeys, signingKeys } from "../core/oauth/signing-key.ts";
import { renewAfterMs } from "../core/sign-in/sign-in.ts";
import { workerUseEveryMs } from "../core/workers/worker.ts";
import { allJobs } from "../jobs/all.ts";
import { startJobs } from "../jobs/timed.ts";
import type { Step } from "../start/process/ending.ts";
import { startAuditing } from "./audit.ts";
import type { Uses } from "./calls.ts";
import { storeProfiles } from "./installation.ts";
import { showKeys } from "./key-ring.ts";
import type { ProcessContext } from "./process-context.ts";
import type { Shared } from "./shared.ts";
import { startWatch } from "./watching.ts";

/** What every process does in addition to calls. */
export interface Background {
  readonly uses: Uses;
  readonly keys: SigningKeys;
  readonly refusals: Refusals;
  /** Stops what is done at times. */
  readonly stop: (step: Step) => Promise<unknown>;
  /** Writes what the last calls have left, and removes the process from the list of processes. */
  readonly finish: (step: Step) => Promise<void>;
}

export async function startBackground(
  context: ProcessContext,
  { files, backlog, models }: Pick<Shared, "files" | "backlog" | "models">,
  processId: string,
): Promise<Background> {
  const { config, store, cipher, clock, ids, log } = context;
  const hideKeys = await showKeys({
    store,
    ring: cipher,
    clock,
    log,
    process: { id: processId, role: config.role, version },
  });
  await store.change(async (tx) => {
    await tx.agentProfiles.setLabels(config.profileLabels);
    await storeProfiles(tx, config);
  });
  const stopModels = await models.follow();
  const uses: Uses = {
    keys: keyUses(store, clock),
    workers: keyUses(store, clock, ({ workers }) => workers, workerUseEveryMs),
    sessions: keyUses(store, clock, ({ sessions }) => sessions, renewAfterMs),
  };
  const written = {
    write: async () => void (await Promise.all(Object.values(uses).map((each) => each.write()))),
  };
  const keys = signingKeys({ store, cipher, clock, ids });
  const jobNeeds = {
    ...context,
    backlog,
    uses: written,
    signingKeys: keys,
    files: files.sweep,
    archive: files.archive,
  };
  const stopJobs = startJobs(allJobs, jobNeeds, processId);
  const stopWatch = startWatch(context);
  const auditing = startAuditing(context);
  return {
    uses,
    keys,
    refusals: auditing.refusals,
    stop: (step) =>
      Promise.all([
        step("timed jobs", stopJobs()),
        step("warnings", stopWatch()),
        step("models", stopModels()),
      ]),
    async finish(step) {
      await step("audit", auditing.stop());
      await written
        .write()
        .catch((cause: unknown) => log("error", "the last uses of keys were not written", { cause }));
      await hideKeys();
    },
  };
}
