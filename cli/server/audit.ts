import { buildRouteMap } from "@stricli/core";
import { type ChainHead, type ChainReport, verifyChain } from "../../src/core/audit/chain.ts";
import { notFound } from "../../src/core/failure.ts";
import type { Tx } from "../../src/core/store.ts";
import { UsageError } from "../frame/failures.ts";
import { textFlag } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";

async function* spacesOf(
  tx: Tx,
  team: string | undefined,
  space: string | undefined,
): AsyncGenerator<string> {
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
  if (fault === null)
    return `${spaceId}: intact, ${head.seq} rows sealed${removed}, ${unsealed} not yet, ${end}`;
  const row = fault.id === null ? "" : ` (row ${fault.id})`;
  return `${spaceId}: BROKEN at ${fault.seq}${row}, ${fault.kind}: ${fault.text}; ${unsealed} not sealed, intact up to ${end}`;
}

const reportObject = (spaceId: string, { anchor, head, unsealed, fault }: ChainReport) => ({
  space_id: spaceId,
  intact: fault === null,
  removed: anchor?.seq ?? 0,
  head: `${head.seq}:${head.hash}`,
  unsealed,
  fault,
});

function parseHead(printed: string): ChainHead {
  const [, seq, hash] = /^(\d{1,10}):([0-9a-f]{64})$/.exec(printed) ?? [];
  if (seq === undefined || hash === undefined)
    throw new UsageError("must be a head as this command writes it, SEQ:HASH");
  return { seq: Number(seq), hash };
}

interface VerifyFlags extends InstallationFlags {
  readonly team?: string;
  readonly space?: string;
  readonly head?: ChainHead;
}

const verify = installationCommand({
  brief: "Verify the seals of the audit log",
  about:
    "It writes a line for each log, with its head, as soon as the log is verified. Store the heads outside the database. The exit code is 1 if a log does not match its seals.",
  examples: [
    "atp audit verify",
    `atp audit verify --team Sales --head 120:${"9f".repeat(4)}…`,
    "atp audit verify --json",
  ],
  parameters: {
    flags: {
      ...installationFlags,
      team: textFlag("Verify the log of this team", "NAME"),
      space: textFlag("Verify the log of this space; by default all logs", "ID"),
      head: {
        kind: "parsed",
        brief: "A head that was written earlier for this log; its rows must still exist",
        placeholder: "SEQ:HASH",
        optional: true,
        parse: parseHead,
      },
    },
  },
  check({ team, space, head }: VerifyFlags) {
    if (team !== undefined && space !== undefined) throw new UsageError("give one of --team and --space");
    if (head !== undefined && team === undefined && space === undefined)
      throw new UsageError("--head needs --team or --space");
  },
  run: async ({ store, print, context }: OnInstallation, { team, space, head }: VerifyFlags) => {
    for await (const spaceId of spacesOf(store, team, space)) {
      const report = await verifyChain(store, spaceId, head ?? null);
      print.result(reportObject(spaceId, report), reportLine(spaceId, report));
      if (report.fault !== null) context.process.exitCode = 1;
    }
  },
});

export const audit = buildRouteMap({ docs: { brief: "Verify the audit log" }, routes: { verify } });
