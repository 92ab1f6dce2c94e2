// `./atp erase`: erases a person or a space.
import { createInterface } from "node:readline/promises";
import { checkNoOpenErasures, type ErasureKind } from "../src/core/erasure/erasure.ts";
import { Failure } from "../src/core/failure.ts";
import { eraseOpen } from "../src/core/use-cases/erase.ts";
import { beginErasure, type ErasurePlan, planErasure } from "../src/core/use-cases/plan-erasure.ts";
import { eraseParts } from "../src/wiring/erasure.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation, textOption } from "./command.ts";
import { progressLine } from "./progress-line.ts";

const usage = `usage: ./atp erase --person EMAIL|ID [--dry-run | --yes EMAIL]
       ./atp erase --space ID [--dry-run | --yes NAME]
       ./atp erase --pending
       ./atp erase --list

  --person   erases a person, with the spaces that have no other users
  --space    erases a team or a personal space with all that is in it
  --dry-run  only prints how many rows would be deleted
  --yes      the name that the command otherwise requests: of the person, the e-mail address; of a team, its name
  --pending  completes erasures that were interrupted, or that a restored backup needs again
  --list     prints the list of erasures

It cannot be undone. Servers can run. What stays, and for how long: docs/operate/erasure.md.
`;

const options = {
  person: textOption,
  space: textOption,
  yes: textOption,
  "dry-run": { type: "boolean" },
  pending: { type: "boolean" },
  list: { type: "boolean" },
} as const;
type Command =
  | { readonly verb: "erase"; readonly kind: ErasureKind; readonly ref: string; readonly dryRun: boolean; readonly yes: string | undefined }
  | { readonly verb: "pending" }
  | { readonly verb: "list" };

function read({ person, space, yes, "dry-run": dryRun = false, pending, list }: OptionValues<typeof options>): Command | null {
  const verbs = [person, space, pending, list].filter((each) => each !== undefined);
  if (verbs.length !== 1) return null;
  const ref = person ?? space;
  if (ref === undefined) return yes === undefined && !dryRun ? { verb: pending ? "pending" : "list" } : null;
  if (ref === "" || (dryRun && yes !== undefined)) return null;
  return { verb: "erase", kind: person === undefined ? "space" : "person", ref, dryRun, yes };
}

async function run(command: Command, installation: OpenedInstallation): Promise<string> {
  const { store, creationContext } = installation;
  if (command.verb === "list") return await list(installation);
  if (command.verb === "pending") return await complete(installation);
  const { kind, ref, dryRun, yes } = command;
  const plan = await planErasure(store, kind, ref);
  if (dryRun) return report(kind, plan);
  process.stderr.write(report(kind, plan));
  await confirm(plan.name, yes);
  await store.change((tx) => beginErasure(tx, creationContext(), kind, ref));
  return await complete(installation);
}

function report(kind: ErasureKind, { name, parts, counts, leaves }: ErasurePlan): string {
  const spaces = parts.filter((part) => part.kind === "space").length;
  const lines = Object.entries(counts).map(([table, count]) => `  ${table}: ${count}`);
  const also = kind === "person" ? [`  spaces without other users: ${spaces}`, `  teams that the person leaves: ${leaves.length}`] : [];
  return [`${kind} ${name}: rows to delete`, ...lines, ...also].map((line) => `${line}\n`).join("");
}

/** @throws Failure `failed_precondition` for another text */
async function confirm(name: string, yes: string | undefined): Promise<void> {
  const given = yes ?? (process.stdin.isTTY ? await ask(name) : undefined);
  if (given === undefined) throw new Failure("failed_precondition", `nothing was erased: confirm with --yes ${JSON.stringify(name)}`);
  if (given !== name) throw new Failure("failed_precondition", `nothing was erased: the name is ${JSON.stringify(name)}`);
}

async function ask(name: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await lines.question(`It cannot be undone. Type ${JSON.stringify(name)} without quotes to erase: `);
  } finally {
    lines.close();
  }
}

async function complete({ config, store, ambient }: OpenedInstallation): Promise<string> {
  const progress = progressLine();
  let rows = 0;
  const parts = eraseParts(config, store, ambient.clock, ambient.log, (deleted) => {
    rows += deleted;
    progress.show(`${rows} rows deleted`);
  });
  const erased = await eraseOpen(parts);
  progress.end();
  await checkNoOpenErasures(store);
  return erased.length === 0 ? "No erasure is open.\n" : erased.map(({ kind, subject }) => `erased: ${kind} ${subject}\n`).join("");
}

const listMax = 1_000;

async function list({ store }: OpenedInstallation): Promise<string> {
  const time = (at: number | null) => (at === null ? "not complete" : new Date(at).toISOString());
  const erasures = await store.erasures.list(listMax);
  return erasures
    .map(({ kind, subject, createdAt, completedAt }) => `${kind} ${subject} ${time(createdAt)} ${time(completedAt)}\n`)
    .join("");
}

await runOnInstallation({ usage, options, read }, run);
