import type { PackedSession, StepQuery, StepRows } from "../../core/exports/archive-rows.ts";
import type { ComplianceExport, StepFilter } from "../../core/exports/export.ts";
import type { TaskEvent } from "../../core/tasks/event.ts";
import { toChunks } from "./json.ts";
import { stepLine, stepsOf } from "./steps.ts";
import type { Entry, OnStep, Packing } from "./zip.ts";

/** The number of sessions per page. */
const sessionsMax = 100;

export interface ComplianceStore {
  readonly steps: StepRows;
  readonly accounts: { teamOf(spaceId: string): Promise<{ id: string } | null> };
}

/**
 * The archive contains only steps from before the request, so that the export ends and the next one can begin
 * there.
 */
const queryOf = ({ spaceId, createdAt, filter }: ComplianceExport): StepQuery => ({
  spaceId,
  user: filter.user,
  session: filter.session,
  names: filter.names,
  startTime: filter.startTime,
  endTime: Math.min(filter.endTime ?? createdAt, createdAt),
});

/**
 * Packs the steps of agents in a team: one `events.ndjson` (spec/enterprise.md 8.5). Memory holds a page of
 * events.
 */
export function packCompliance(store: ComplianceStore, requested: ComplianceExport): Packing {
  const query = queryOf(requested);
  let count = 0;

  async function* lines(onStep: OnStep): AsyncGenerator<string> {
    const team = await store.accounts.teamOf(requested.spaceId);
    for await (const session of sessionsOf(store.steps, query)) {
      for await (const line of sessionLines(store.steps, query, session, requested.filter, team?.id ?? "")) {
        count += 1;
        yield line;
      }
      await onStep();
    }
  }

  return {
    steps: async () => 1 + (await store.steps.count(query)),
    async *entries(onStep): AsyncGenerator<Entry> {
      yield { name: "events.ndjson", bytes: toChunks(lines(onStep)), size: null, compress: true };
      await onStep();
    },
    eventCount: () => count,
  };
}

async function* sessionsOf(rows: StepRows, query: StepQuery): AsyncGenerator<PackedSession> {
  for (let after: PackedSession | null = null; ; ) {
    const page: readonly PackedSession[] = await rows.sessions(query, after, sessionsMax);
    yield* page;
    if (page.length < sessionsMax) return;
    after = page.at(-1) ?? null;
  }
}

async function* sessionLines(
  rows: StepRows,
  query: StepQuery,
  session: PackedSession,
  { names, includePayload }: StepFilter,
  teamId: string,
): AsyncGenerator<string> {
  // A call is exported in the window of its first event, so that every window gives the same result.
  const approvalIds = names.includes("tool_call")
    ? await readApprovalIds(rows, query, session)
    : new Set<string>();
  for await (const event of pages(session, (afterSeq) =>
    rows.events(query, session.id, afterSeq, session.lastSeq),
  )) {
    for (const step of stepsOf(event, approvalIds)) {
      if (names.includes(step.name)) yield stepLine({ step, event, session, teamId, includePayload });
    }
  }
}

/**
 * The tool uses that requested a confirmation before the window. Their number is limited by the number of
 * confirmations.
 */
async function readApprovalIds(
  rows: StepRows,
  query: StepQuery,
  session: PackedSession,
): Promise<Set<string>> {
  const approvalIds = new Set<string>();
  for await (const event of pages(session, (afterSeq) =>
    rows.approvalRequests(query, session.id, afterSeq, session.lastSeq),
  ))
    stepsOf(event, approvalIds);
  return approvalIds;
}

async function* pages(
  { lastSeq }: PackedSession,
  read: (afterSeq: number) => Promise<readonly TaskEvent[]>,
): AsyncGenerator<TaskEvent> {
  for (let seq = 0; seq < lastSeq; ) {
    const page = await read(seq);
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    seq = last.seq;
  }
}
