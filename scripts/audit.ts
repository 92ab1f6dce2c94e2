// `npm run audit -- verify`: verifies the seals of the audit log, with or without running servers.
import { type ChainHead, type ChainReport, verifyChain } from "../src/core/audit/chain.ts";
import { notFound } from "../src/core/failure.ts";
import type { Tx } from "../src/core/store.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation, textOption } from "./command.ts";

const usage = `usage: npm run --silent audit -- verify [--team NAME | --space ID] [--head SEQ:HASH]

  --team   verify the log of this team
  --space  verify the log of this space; default: all logs
  --head   a head that was printed earlier for this log; its rows must still exist

Prints one line per log, with its head. Store the heads outside the database. Exits with 1 if a log does not match its seals.
`;

interface Arguments {
  readonly team: string | undefined;
  readonly space: string | undefined;
  readonly head: ChainHead | null;
}

const options = { team: textOption, space: textOption, head: textOption };

function read({ team, space, head }: OptionValues<typeof options>, positionals: readonly string[]): Arguments | null {
  const isOneLog = team !== undefined || space !== undefined;
  const expectedHead = head === undefined ? null : parseHead(head);
  if (positionals.join() !== "verify" || (team !== undefined && space !== undefined)) return null;
  return head !== undefined && (expectedHead === null || !isOneLog) ? null : { team, space, head: expectedHead };
}

function parseHead(printed: string): ChainHead | null {
  const [, seq, hash] = /^(\d{1,10}):([0-9a-f]{64})$/.exec(printed) ?? [];
  return seq === undefined || hash === undefined ? null : { seq: Number(seq), hash };
}

/** Sets exit code 1 unless all logs are intact; prints each log's line as soon as it is verified. */
async function verify({ team, space, head }: Arguments, { store }: OpenedInstallation): Promise<undefined> {
  for await (const spaceId of spacesOf(store, team, space)) {
    const report = await verifyChain(store, spaceId, head);
    process.stdout.write(`${reportLine(spaceId, report)}\n`);
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
  if (team === null) throw notFound(`team ${JSON.stringify(name)}`);
  return team.spaceId;
}

function reportLine(spaceId: string, { anchor, head, unsealed, fault }: ChainReport): string {
  const end = `head ${head.seq}:${head.hash}`;
  const removed = anchor === null ? "" : `, the first ${anchor.seq} removed by AUDIT_DAYS`;
  if (fault === null) return `${spaceId}: intact, ${head.seq} rows sealed${removed}, ${unsealed} not yet, ${end}`;
  const row = fault.id === null ? "" : ` (row ${fault.id})`;
  return `${spaceId}: BROKEN at ${fault.seq}${row}, ${fault.kind}: ${fault.text}; ${unsealed} not sealed, intact up to ${end}`;
}

await runOnInstallation({ usage, options, acceptsPositionals: true, read }, verify);
