import { describe, expect, test } from "vitest";
import { seed, share } from "../support/depth.ts";
import { shortPlans } from "./harness/plans.ts";
import { evidenceOf, reportOf } from "./harness/report.ts";
import { runFaults } from "./harness/run.ts";
import { setUpNames } from "./harness/set-up.ts";

/** Number of faults of each kind in the short form. */
const made = {
  sqlite: {
    "kill -9": 6,
    "clock stepped": 3,
    "disk full": 1,
    "paused (SIGSTOP)": 1,
    "event loop blocked": 1,
  },
  postgresql: {
    ...{ "kill -9": 4, "clock stepped": 3, "paused (SIGSTOP)": 1, "event loop blocked": 1 },
    ...{ "connections cut (pg_terminate_backend)": 1, "PostgreSQL restarted": 1 },
  },
};

// Both spend much of the time waiting.
describe.concurrent("acknowledged changes persist through every fault", () => {
  // Short runs test one of them; kill.test.ts kills processes on SQLite.
  test.each(share(setUpNames, 0, setUpNames.length))("to the processes of %s", async (setUp) => {
    const outcome = await runFaults({ setUp, plan: shortPlans[setUp], seed: String(seed) });
    if (outcome === undefined) return console.error("\n  *** No PostgreSQL: ITS FAULTS ARE SKIPPED ***\n");
    for (const what of outcome.skipped) console.error(`\n  *** SKIPPED: ${what} ***\n`);
    console.info(reportOf(outcome));
    expect(evidenceOf(outcome)).toBe("");
    expect(Object.fromEntries(outcome.timeline.counts())).toMatchObject(made[setUp]);
    expect(outcome.tally.get("answers 503"), "a full disk was noticed").toBeGreaterThan(0);
    const taken = outcome.tally.get("tasks taken over from a process that stood still") ?? 0;
    expect(taken > 0, "a fence was needed where there are several").toBe(setUp === "postgresql");
    expect(outcome.tally.get("tasks"), "the load continued").toBeGreaterThan(50);
  });
});
