// `npm run resume`: shows what would start in a restored installation, and lets servers start on it.
import { systemClock } from "../src/core/clock.ts";
import { checkNoOpenErasures } from "../src/core/erasure/erasure.ts";
import { countMax, type ProfileLoad } from "../src/core/installation/status.ts";
import { release } from "../src/core/processes/hold.ts";
import type { Tx } from "../src/core/store.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation } from "./command.ts";

const usage = `usage: npm run --silent resume [-- --dry-run]

  --dry-run  only shows what would start

Prints what servers do as soon as they start: tasks that continue, deliveries, schedules that are due, and jobs.
`;

const options = { "dry-run": { type: "boolean" } } as const;
const schedulesMax = 1_000;

async function run(isDryRun: boolean, { store }: OpenedInstallation): Promise<string> {
  const report = await whatStarts(store, systemClock.now());
  if (isDryRun) return report;
  const wasHeld = await store.change(async (tx) => {
    await checkNoOpenErasures(tx);
    return await release(tx);
  });
  return `${report}${wasHeld ? "The installation is no longer held: servers can start." : "The installation was not held."}\n`;
}

async function whatStarts({ installation, schedules }: Tx, now: number): Promise<string> {
  const profiles = await installation.profiles(now, countMax);
  const deliveries = await installation.pendingDeliveries(now, countMax);
  const due = await schedules.due(now, schedulesMax);
  const jobs = await installation.jobs(now);
  const unfinished = ({ profile, queued, running }: ProfileLoad) => `tasks of ${profile} that continue: ${queued + running}`;
  const lines = [
    ...profiles.filter(({ queued, running }) => queued + running > 0).map(unfinished),
    `deliveries to webhooks: ${deliveries.count}, of which ${deliveries.due} are due`,
    `schedules that are due: ${due.length === schedulesMax ? "at least " : ""}${due.length}`,
    ...jobs.map(({ kind, count }) => `jobs of the kind ${kind}: ${count}`),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

const read = (values: OptionValues<typeof options>): boolean => values["dry-run"] ?? false;

await runOnInstallation({ usage, options, read }, run);
