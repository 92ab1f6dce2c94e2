import type { ComplianceExport, StepFilter } from "../core/exports/export.ts";
import type { PackedSession, StepRows, WantedSteps } from "../core/exports/step-rows.ts";
import type { TaskEvent } from "../core/tasks/event.ts";
import { inBytes } from "./json.ts";
import type { OnStep, Packing } from "./packing.ts";
import { stepLine } from "./step-line.ts";
import { stepsOf } from "./steps.ts";
import type { Entry } from "./zip.ts";

/** Sessions read at once. */
const sessionsMax = 100;

/** What of the store such archives are made of. */
export interface ComplianceStore {
  readonly steps: StepRows;
  readonly accounts: { teamOf(spaceId: string): Promise<{ readonly id: string } | null> };
}

/** Nothing that came after the export was asked for is packed, so that it ends, and the next one can begin there. */
const wantedOf = ({ spaceId, createdAt, filter }: ComplianceExport): WantedSteps => ({
  ...{ spaceId, user: filter.user, session: filter.session, names: filter.names, startTime: filter.startTime },
  endTime: Math.min(filter.endTime ?? createdAt, createdAt),
});

/** Packs what agents did in a team: one `events.ndjson` (contract/enterprise.md 8.5). Memory holds a page of events. */
export function packCompliance(store: ComplianceStore, wanted: ComplianceExport): Packing {
  const which = wantedOf(wanted);
  let count = 0;

  async function* lines(onStep: OnStep): AsyncGenerator<string> {
    const team = await store.accounts.teamOf(wanted.spaceId);
    for await (const session of sessionsOf(store.steps, which)) {
      for await (const line of sessionLines(store.steps, which, session, wanted.filter, team?.id ?? "")) {
        count += 1;
        yield line;
      }
      await onStep();
    }
  }

  return {
    steps: async () => 1 + (await store.steps.count(which)),
    async *entries(onStep): AsyncGenerator<Entry> {
      yield { name: "events.ndjson", bytes: inBytes(lines(onStep)), size: null, compress: true };
      await onStep();
    },
    eventCount: () => count,
  };
}

async function* sessionsOf(rows: StepRows, which: WantedSteps): AsyncGenerator<PackedSession> {
  for (let after: PackedSession | null = null; ; ) {
    const page: readonly PackedSession[] = await rows.sessions(which, after, sessionsMax);
    yield* page;
    if (page.length < sessionsMax) return;
    after = page.at(-1) ?? null;
  }
}

async function* sessionLines(
  rows: StepRows,
  which: WantedSteps,
  session: PackedSession,
  { names, includePayload }: StepFilter,
  teamId: string,
): AsyncGenerator<string> {
  // Whether a call was told before the window decides whether it is told in it: every window tells the same.
  const asked = names.includes("tool_call") ? await askedBefore(rows, which, session) : new Set<string>();
  for await (const event of pages(session, (afterSeq) => rows.events(which, session.id, afterSeq, session.lastSeq))) {
    for (const step of stepsOf(event, asked)) {
      if (names.includes(step.name)) yield stepLine({ step, event, session, teamId, includePayload });
    }
  }
}

/** The uses of tools that have asked for approval before the window: as many as people were asked. */
async function askedBefore(rows: StepRows, which: WantedSteps, session: PackedSession): Promise<Set<string>> {
  const asked = new Set<string>();
  for await (const event of pages(session, (afterSeq) => rows.asking(which, session.id, afterSeq, session.lastSeq))) stepsOf(event, asked);
  return asked;
}

async function* pages({ lastSeq }: PackedSession, read: (afterSeq: number) => Promise<readonly TaskEvent[]>): AsyncGenerator<TaskEvent> {
  for (let seq = 0; seq < lastSeq; ) {
    const page = await read(seq);
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    seq = last.seq;
  }
}
