import { globSync, readFileSync } from "node:fs";
import { seededRandom } from "../faults/harness/seeded-random.ts";
import { nightlyFiles } from "./nightly.ts";

/** Deep, slow tests. `npm test` runs a sample of each family (`test/support/depth.ts`). */
export interface Family {
  readonly name: string;
  /** Files for vitest, or folders, which end with a slash. */
  readonly files: readonly string[];
  /** A command of package.json, with its amount in a slice and in a full run. */
  readonly command?: {
    readonly script: string;
    readonly slice: readonly string[];
    readonly full: readonly string[];
  };
}

const named = (folder: string, names: string): readonly string[] =>
  names.split(" ").map((name) => `test/${folder}/${name}.test.ts`);

const filesWith = (pattern: RegExp): readonly string[] =>
  globSync("test/**/*.test.ts").filter((path) => pattern.test(readFileSync(path, "utf8")));

/** The files of suites that `npm test` does not all run on both databases. */
const onOne = filesWith(/describeOn(Each|One|Postgres)\(/);
/** The files of tests of which `npm test` runs a sample. */
const sampled = filesWith(/\b(share|sample|halfFor|sampledTest)\(|\bdepth [!=]==/);

export const families: readonly Family[] = [
  { name: "model", files: ["test/teams/model/"] },
  {
    name: "faults",
    files: ["test/faults/faults.test.ts"],
    command: { script: "test:faults", slice: ["--kills", "20"], full: ["--kills", "300"] },
  },
  { name: "failover", files: ["test/faults/failover.test.ts"] },
  { name: "rolling", files: ["test/rolling/"] },
  { name: "proxies", files: ["test/proxies/"] },
  {
    name: "kills",
    files: [
      ...named("faults", "kill takeover drain deliveries webhooks texts terminal fetch"),
      ...named("websites", "kill publisher"),
      ...[
        "test/a2a/profile-kill.test.ts",
        "test/backup/kill.test.ts",
        "test/exports/kill.test.ts",
        "test/files/kill.test.ts",
        "test/imports/kill.test.ts",
        "test/schedules/kill.test.ts",
        "test/workers/subtasks-kill.test.ts",
        "test/first-key.test.ts",
      ],
    ],
  },
  {
    name: "chaos",
    files: [...named("agents", "chaos same-events"), ...named("runtime/model", "resume kills injections")],
  },
  {
    name: "nodes",
    files: [
      "test/nodes/",
      "test/races/",
      "test/files/storm.test.ts",
      "test/oauth/races.test.ts",
      "test/workers/lease.test.ts",
    ],
  },
  {
    name: "wires",
    files: [
      "test/wires/",
      "test/actions/surfaces.test.ts",
      "test/connectors/resolve.wires.property.test.ts",
      "test/languages/buf-curl.test.ts",
    ],
  },
  {
    name: "fuzz",
    files: ["test/fuzz/"],
    command: { script: "fuzz", slice: ["--runs", "3000"], full: ["--runs", "100000"] },
  },
  { name: "documents", files: ["test/documents/generated.test.ts", "test/documents/collections.test.ts"] },
  {
    name: "hostile",
    files: ["test/hostile/"],
    command: { script: "hostile", slice: ["--only", "json"], full: ["--rounds", "3", "--accepted"] },
  },
  { name: "browsers", files: ["test/browser/", "test/browsers/"] },
  { name: "frameworks", files: ["test/frameworks/", "test/mcp/conformance/"] },
  { name: "kits", files: ["test/kits/"] },
  { name: "languages", files: ["test/languages/clients.test.ts"] },
  { name: "client", files: ["test/client/"] },
  { name: "docs", files: ["test/docs/", "test/site/"] },
  { name: "commands", files: ["test/commands/"] },
  { name: "dev", files: ["test/dev/"] },
  { name: "package", files: ["test/package/"] },
  {
    name: "databases",
    files: [...onOne, "test/sign-in/session.test.ts", "test/store/outside-change.test.ts"],
  },
  { name: "memory", files: ["test/exports/memory.test.ts", "test/files/memory.test.ts"] },
  { name: "samples", files: sampled },
  { name: "nightly", files: nightlyFiles() },
];

/** A step of a deep run: a test file of a family, or its command. */
export interface Step {
  readonly family: Family;
  /** The path, or `npm run SCRIPT`. */
  readonly name: string;
}

export const commandOf = ({ family, name }: Step): Family["command"] =>
  name.startsWith("npm run ") ? family.command : undefined;

function stepsOf(family: Family): readonly Step[] {
  const paths = family.files.flatMap((path) =>
    path.endsWith("/") ? globSync(`${path}**/*.test.ts`).toSorted() : [path],
  );
  return [...paths, ...(family.command ? [`npm run ${family.command.script}`] : [])].map((name) => ({
    family,
    name,
  }));
}

/**
 * All steps in an order by the seed: one of every family, then the second of every family that has two, and
 * so on.
 */
export function stepsInOrder(chosen: readonly Family[], seed: number): readonly Step[] {
  const random = seededRandom(`steps ${seed}`);
  const knownNames = new Set<string>();
  // A file of two families belongs to the first.
  const isNew = ({ name }: Step) => !knownNames.has(name) && knownNames.add(name) !== undefined;
  const shuffled = <T>(all: readonly T[]): readonly T[] =>
    all
      .map((one) => ({ one, place: random.below(2 ** 30) }))
      .toSorted((a, b) => a.place - b.place)
      .map(({ one }) => one);
  const queues = shuffled(chosen.map((family) => shuffled(stepsOf(family).filter(isNew))));
  const longest = Math.max(...queues.map(({ length }) => length));
  return Array.from({ length: longest }, (_, nth) => queues.flatMap((queue) => queue[nth] ?? [])).flat();
}
