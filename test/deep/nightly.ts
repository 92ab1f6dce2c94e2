import { globSync } from "node:fs";

const named = (folder: string, names: string): readonly string[] =>
  names.split(" ").map((name) => `test/${folder}/${name}.test.ts`);

/**
 * Files that `npm test` leaves to the nightly run, by the reason; names that end with a slash are folders. A
 * run that names files, or `--changed`, runs them too. `npm test` keeps a cheaper test of each of their
 * guarantees (docs/internals/testing.md).
 */
const reasons: Readonly<Record<string, readonly string[]>> = {
  "they have no short form": [
    ...[
      "test/faults/failover.test.ts",
      "test/proxies/",
      "test/package/installed.test.ts",
      "test/package/container.test.ts",
    ],
  ],
  "one file of each area in a browser stays": [
    ...named(
      "browser",
      "pages console-pages console-task console-team console-live console-settings console-hostile",
    ),
    ...named("browser", "console-welcome factors approvals cli-sign-in website"),
    ...named("browsers", "hostile processes detach selection attach wires"),
  ],
  "processes that are killed, paused or replaced: the short form of test/faults stays": [
    ...named("faults", "takeover drain deliveries terminal"),
    ...[
      "test/files/kill.test.ts",
      "test/backup/kill.test.ts",
      "test/schedules/kill.test.ts",
      "test/first-key.test.ts",
    ],
    ...["test/nodes/calls.test.ts", "test/starting.test.ts"],
  ],
  "400 steps of a task, with several summaries": ["test/runtime/model/facts.test.ts"],
  "20 tasks with a server in its own process, and 150 pages that are read": ["test/eval/eval.test.ts"],
  "commands and pages by a shell": [
    ...named("commands", "worker-check user audit fuzz skill webhook-key key website export"),
    ...named("docs", "erasure budgets cli security webhooks monitoring offline-agent agents backup python"),
    ...[
      "test/acp/story.test.ts",
      "test/cli/check.test.ts",
      "test/cli/exit-codes.test.ts",
      "test/config/sources.test.ts",
      "test/commands/setup.test.ts",
    ],
    ...[
      "test/deploy/lint.test.ts",
      "test/package/contents.test.ts",
      "test/docs/quickstart.test.ts",
      "test/sign-in/first-link.test.ts",
    ],
  ],
  "clients in other languages: one of gRPC and one of Python stay": [
    ...named("languages", "clients enterprise buf-curl web"),
    ...named("client", "failures python-worker python package listen runtimes testing waits"),
    "test/http/openai/sdk.test.ts",
    "test/http/openai/held-openai.test.ts",
  ],
  "releases are cut seldom, and the command itself refuses": [
    ...["test/releases/cut.test.ts", "test/test-mode/action.test.ts"],
  ],
  "attacks on the limits of a server": [
    ...[
      "test/hostile/",
      "test/http/full-disk.test.ts",
      "test/imports/hostile.test.ts",
      "test/egress/agent.test.ts",
    ],
    ...["test/runtime/model/tools/sandbox.test.ts", "test/runtime/model/injections.test.ts"],
  ],
  "other databases, pools and buckets": [
    ...named("store", "migrate relay replica scan-thread cut-at-connect outside-change"),
    ...[
      "test/store/rows/team-list.test.ts",
      "test/jobs/postgres.test.ts",
      "test/exports/bucket.test.ts",
      "test/files/bucket.test.ts",
    ],
    "test/storage/blobs.test.ts",
    ...["test/backup/move.test.ts", "test/backup/move-tables.test.ts"],
  ],
  "races: each has the step of its race in a test of the operation": [
    ...[
      "test/races/",
      "test/workers/races.test.ts",
      "test/teams/races.test.ts",
      "test/oauth/races.test.ts",
      "test/files/storm.test.ts",
      "test/runtime/fairness.test.ts",
    ],
  ],
  "random requests, models and large amounts": [
    ...[
      "test/fuzz/fuzz.test.ts",
      "test/fuzz/requests/",
      "test/fuzz/oracle/cost.test.ts",
      "test/teams/model/",
    ],
    ...[
      "test/bench/simulate.test.ts",
      "test/bench/years.test.ts",
      "test/exports/memory.test.ts",
      "test/files/memory.test.ts",
    ],
    ...[
      "test/connectors/resolve.wires.property.test.ts",
      "test/http/rest.property.test.ts",
      "test/wires/round-trips.test.ts",
    ],
    "test/store/new-column.test.ts",
    ...[
      "test/usage/agreement.test.ts",
      "test/core/structured-output/values.test.ts",
      "test/core/skills/pack.test.ts",
    ],
    ...["test/skills/forced.test.ts", "test/pdf/pdf.test.ts", "test/core/exports/seal.test.ts"],
    ...["test/agents/chaos.test.ts", "test/agents/same-events.test.ts", "test/runtime/model/resume.test.ts"],
  ],
  "one story over every wire and protocol: each protocol has its own": [
    ...[
      "test/protocols/story.test.ts",
      "test/http/openai/sequence-numbers.test.ts",
      "test/pipeline/unbuilt.test.ts",
    ],
    ...["test/documents/openapi.test.ts", "test/documents/module.test.ts", "test/webhooks/platform.test.ts"],
    ...[
      "test/webhooks/listen-platform.test.ts",
      "test/teams/permissions.test.ts",
      "test/oauth/stored-data.test.ts",
    ],
  ],
};

/** Their files and folders. */
export const nightly: readonly string[] = Object.values(reasons).flat();

/** Whether a test file is one of them. */
export const isNightly = (file: string): boolean =>
  nightly.some((name) => (name.endsWith("/") ? file.startsWith(name) : file === name));

/** Patterns of vitest. */
export const nightlyPatterns = nightly.map((name) => (name.endsWith("/") ? `${name}**/*.test.ts` : name));

/** Each file. */
export const nightlyFiles = (): readonly string[] => globSync(nightlyPatterns);

/**
 * Whether a run of vitest with these words chooses nothing: it names no file and no changes.
 *
 * @param words after `vitest`, for example `["run", "test/core/ids.test.ts"]`.
 */
export const isWholeRun = (words: readonly string[]): boolean =>
  !words.some(
    (word, at) =>
      word.startsWith("--changed") || (at > 0 && !word.startsWith("-") && !isValue(words[at - 1] ?? "")),
  );

/** Whether a word follows that is the value of an option. */
const isValue = (word: string): boolean => word.startsWith("-") && !word.includes("=");
