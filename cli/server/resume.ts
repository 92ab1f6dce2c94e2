import { systemClock } from "../../src/core/clock.ts";
import { defined } from "../../src/core/defined.ts";
import { checkNoOpenErasures } from "../../src/core/erasure/erasure.ts";
import { countMax, type ProfileLoad } from "../../src/core/installation/status.ts";
import { release } from "../../src/core/processes/hold.ts";
import type { Tx } from "../../src/core/store.ts";
import { switchFlag } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";

const schedulesMax = 1_000;

/** What servers do as soon as they start. */
async function whatStarts({ installation, schedules }: Tx, now: number) {
  const profiles = await installation.profiles(now, countMax);
  const { count, due } = await installation.pendingDeliveries(now, countMax);
  const dueSchedules = await schedules.due(now, schedulesMax);
  const jobs = await installation.jobs(now);
  return { profiles, deliveries: { count, due }, schedules: dueSchedules.length, jobs };
}

type Report = Awaited<ReturnType<typeof whatStarts>>;

const unfinished = ({ profile, queued, running }: ProfileLoad) =>
  `tasks of ${profile} that continue: ${queued + running}`;

const linesOf = ({ profiles, deliveries, schedules, jobs }: Report): readonly string[] => [
  ...profiles.filter(({ queued, running }) => queued + running > 0).map(unfinished),
  `deliveries to webhooks: ${deliveries.count}, of which ${deliveries.due} are due`,
  `schedules that are due: ${schedules === schedulesMax ? "at least " : ""}${schedules}`,
  ...jobs.map(({ kind, count }) => `jobs of the kind ${kind}: ${count}`),
];

const reportObject = ({ profiles, deliveries, schedules, jobs }: Report) => ({
  tasks: profiles.map(({ profile, queued, running }) => ({ profile, continue: queued + running })),
  deliveries,
  schedules_due: schedules,
  jobs: jobs.map(({ kind, count }) => ({ kind, count })),
});

interface ResumeFlags extends InstallationFlags {
  readonly "dry-run"?: boolean;
  readonly "abandon-move"?: boolean;
}

export const resume = installationCommand({
  brief: "Show what would start in a restored installation, and let servers start on it",
  about:
    "It writes what servers do as soon as they start: tasks that continue, deliveries, schedules that are due, and jobs.",
  examples: ["atp resume --dry-run", "atp resume"],
  parameters: {
    flags: {
      ...installationFlags,
      "dry-run": switchFlag("Only show what would start"),
      "abandon-move": switchFlag(
        "Continue with an installation that was moved to another database; without it, such an installation stays held",
      ),
    },
  },
  run: async ({ store, print }: OnInstallation, flags: ResumeFlags) => {
    const report = await whatStarts(store, systemClock.now());
    const wasHeld = flags["dry-run"]
      ? undefined
      : await store.change(async (tx) => {
          await checkNoOpenErasures(tx);
          return await release(tx, flags["abandon-move"] ?? false);
        });
    const end = wasHeld
      ? "The installation is no longer held: servers can start."
      : "The installation was not held.";
    const lines = [...linesOf(report), ...(wasHeld === undefined ? [] : [end])];
    print.result({ ...reportObject(report), ...defined({ was_held: wasHeld }) }, lines.join("\n"));
  },
});
