import { createInterface } from "node:readline/promises";
import { checkNoOpenErasures, type ErasureKind } from "../../src/core/erasure/erasure.ts";
import { Failure } from "../../src/core/failure.ts";
import { eraseOpen } from "../../src/core/use-cases/erase.ts";
import { beginErasure, type ErasurePlan, planErasure } from "../../src/core/use-cases/plan-erasure.ts";
import { eraseParts } from "../../src/modules/erasure.ts";
import type { CliContext } from "../frame/context.ts";
import { UsageError } from "../frame/failures.ts";
import { switchFlag, textFlag } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";
import { progressLine } from "./frame/progress-line.ts";

interface EraseFlags extends InstallationFlags {
  readonly person?: string;
  readonly space?: string;
  readonly yes?: string;
  readonly "dry-run"?: boolean;
  readonly pending?: boolean;
  readonly list?: boolean;
}

export const erase = installationCommand({
  brief: "Erase a person or a space",
  about:
    "It shows how many rows it would delete, and requests the name. A person is erased with the spaces that have no other users, a space with all that is in it. It cannot be undone. Servers can run. docs/operate/erasure.md says what stays, and for how long.",
  examples: [
    "atp erase --person ann@example.com --dry-run",
    "atp erase --space 8wErT5yUi2oPaS1dFgHjKl --yes Research",
    "atp erase --pending",
    "atp erase --list",
  ],
  parameters: {
    flags: {
      ...installationFlags,
      person: textFlag("Person to erase: an e-mail address, or the id of an account", "EMAIL"),
      space: textFlag("Space to erase, a team's or a personal one", "ID"),
      yes: textFlag(
        "The name that the command otherwise requests: of a person the e-mail address, of a team its name",
        "NAME",
      ),
      "dry-run": switchFlag("Only show how many rows would be deleted"),
      pending: switchFlag("Complete erasures that were interrupted, or that a restored backup needs again"),
      list: switchFlag("List the erasures"),
    },
  },
  check({ person, space, pending, list, yes, "dry-run": isDryRun }: EraseFlags) {
    const wanted = [person, space, pending, list].filter((each) => each !== undefined);
    if (wanted.length !== 1 || person === "" || space === "")
      throw new UsageError("give one of --person, --space, --pending and --list");
    if (isDryRun && yes !== undefined) throw new UsageError("give --dry-run or --yes, not both");
    if ((isDryRun || yes !== undefined) && (pending || list))
      throw new UsageError("--dry-run and --yes need --person or --space");
  },
  run: async (server: OnInstallation, { person, space, yes, "dry-run": isDryRun, list }: EraseFlags) => {
    if (list) return await show(server);
    const ref = person ?? space;
    if (ref === undefined) return await complete(server);
    const kind = person === undefined ? "space" : "person";
    const plan = await planErasure(server.store, kind, ref);
    if (isDryRun) return server.print.result({ kind, ...planObject(plan) }, report(kind, plan));
    server.context.process.stderr.write(`${report(kind, plan)}\n`);
    await confirm(server.context, plan.name, yes);
    await server.store.change((tx) => beginErasure(tx, server.creationContext(), kind, ref));
    await complete(server);
  },
});

const spacesIn = ({ parts }: ErasurePlan): number => parts.filter(({ kind }) => kind === "space").length;

const planObject = (plan: ErasurePlan) => ({
  name: plan.name,
  rows: plan.counts,
  spaces_without_other_users: spacesIn(plan),
  teams_left: plan.leaves.length,
});

function report(kind: ErasureKind, plan: ErasurePlan): string {
  const lines = Object.entries(plan.counts).map(([table, count]) => `  ${table}: ${count}`);
  const also = [
    `  spaces without other users: ${spacesIn(plan)}`,
    `  teams that the person leaves: ${plan.leaves.length}`,
  ];
  return [`${kind} ${plan.name}: rows to delete`, ...lines, ...(kind === "person" ? also : [])].join("\n");
}

/** @throws Failure `failed_precondition` for another text */
async function confirm(context: CliContext, name: string, yes: string | undefined): Promise<void> {
  const given = yes ?? (context.stdin.isTTY ? await ask(context, name) : undefined);
  if (given === undefined)
    throw new Failure(
      "failed_precondition",
      `nothing was erased: confirm with --yes ${JSON.stringify(name)}`,
    );
  if (given !== name)
    throw new Failure("failed_precondition", `nothing was erased: the name is ${JSON.stringify(name)}`);
}

async function ask({ stdin, process: { stderr } }: CliContext, name: string): Promise<string> {
  stderr.write(`It cannot be undone. Type ${JSON.stringify(name)} without quotes to erase: `);
  const lines = createInterface({ input: stdin });
  try {
    return await lines.question("");
  } finally {
    lines.close();
  }
}

async function complete({ config, store, ambient, context, print }: OnInstallation): Promise<void> {
  const progress = progressLine(context);
  let rows = 0;
  const parts = eraseParts(config, store, ambient.clock, ambient.log, (deleted) => {
    rows += deleted;
    progress.show(`${rows} rows deleted`);
  });
  const erased = await eraseOpen(parts);
  progress.end();
  await checkNoOpenErasures(store);
  const lines = erased.map(({ kind, subject }) => `erased: ${kind} ${subject}`);
  print.result({ erased }, lines.length === 0 ? "No erasure is open." : lines.join("\n"));
}

const listMax = 1_000;

async function show({ store, print }: OnInstallation): Promise<void> {
  const time = (at: number | null) => (at === null ? null : new Date(at).toISOString());
  const erasures = (await store.erasures.list(listMax)).map(({ kind, subject, createdAt, completedAt }) => {
    return { kind, subject, created_at: time(createdAt), completed_at: time(completedAt) };
  });
  print.lines(
    erasures,
    (each) => `${each.kind} ${each.subject} ${each.created_at} ${each.completed_at ?? "not complete"}`,
  );
}
