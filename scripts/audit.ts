// `npm run audit -- verify`: looks whether the audit log is as it was sealed, beside running servers or without them.
import { parseArgs } from "node:util";
import type { ChainHead } from "../src/core/audit/chain.ts";
import { type ChainReport, verifyChain } from "../src/core/audit/verify.ts";
import { absent } from "../src/core/failure.ts";
import type { Tx } from "../src/core/store.ts";
import { runCommand, useInstallation } from "./command.ts";

const usage = `usage: npm run --silent audit -- verify [--team NAME | --space ID] [--head SEQ:HASH]

  --team   the log of this team
  --space  the log of this space; without either, all logs
  --head   a head that was printed before, of one log: its rows must still be there

Prints a line for each log, with its head: keep that elsewhere. Ends with exit code 1 when a log is not as it was sealed.
`;

interface Wanted {
  readonly team: string | undefined;
  readonly space: string | undefined;
  readonly head: ChainHead | null;
}

/** What is asked for; null when the words make no sense. */
function parse(words: readonly string[]): Wanted | null {
  const text = { type: "string" } as const;
  const options = { team: text, space: text, head: text };
  const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true, strict: true });
  const { team, space, head } = values;
  const one = team !== undefined || space !== undefined;
  const kept = head === undefined ? null : headOf(head);
  if (positionals.join() !== "verify" || (team !== undefined && space !== undefined)) return null;
  return head !== undefined && (kept === null || !one) ? null : { team, space, head: kept };
}

function headOf(text: string): ChainHead | null {
  const [, seq, hash] = /^(\d{1,10}):([0-9a-f]{64})$/.exec(text) ?? [];
  return seq === undefined || hash === undefined ? null : { seq: Number(seq), hash };
}

/** Ends with exit code 1 unless all are sound; each log's line is printed as soon as it is known. */
async function verify({ team, space, head }: Wanted): Promise<undefined> {
  await using installation = await useInstallation();
  for await (const spaceId of spacesOf(installation.store, team, space)) {
    const report = await verifyChain(installation.store, spaceId, head);
    process.stdout.write(`${lineOf(spaceId, report)}\n`);
    if (report.fault !== null) process.exitCode = 1;
  }
}

async function* spacesOf(tx: Tx, team: string | undefined, space: string | undefined): AsyncGenerator<string> {
  if (space !== undefined) yield space;
  else if (team !== undefined) yield await spaceOfTeam(tx, team);
  else
    for (let after: string | undefined = ""; after !== undefined; ) {
      const spaces: string[] = await tx.auditChain.spaces(after, 100);
      yield* spaces;
      after = spaces.at(-1);
    }
}

async function spaceOfTeam(tx: Tx, name: string): Promise<string> {
  const team = await tx.accounts.teamByName(name);
  if (team === null) throw absent(`team ${JSON.stringify(name)}`);
  return team.spaceId;
}

function lineOf(spaceId: string, { head, unsealed, fault }: ChainReport): string {
  const end = `head ${head.seq}:${head.hash}`;
  if (fault === null) return `${spaceId}: sound, ${head.seq} rows sealed, ${unsealed} not yet, ${end}`;
  const row = fault.id === null ? "" : ` (row ${fault.id})`;
  return `${spaceId}: BROKEN at ${fault.seq}${row}, ${fault.kind}: ${fault.text}; ${unsealed} not sealed, sound up to ${end}`;
}

await runCommand({ usage, parse }, verify);
