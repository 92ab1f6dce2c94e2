import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useDeferredValue, useState } from "react";
import { type AuditEvent, AuditOutcome } from "#proto/audit/v2/audit_pb.ts";
import { AuditService } from "#proto/audit/v2/audit_service_pb.ts";
import { useMe } from "../api/me.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { Icon } from "../ui/icons.tsx";
import { zoneName } from "../ui/time.tsx";
import { words } from "../words.ts";
import styles from "./audit.module.css";
import { AuditEntry } from "./audit-entry.tsx";
import { isRead } from "./audit-words.ts";
import { accountChoiceOf, useDirectory } from "./people.ts";

const text = words(
  {
    about:
      "Every change in this team, and every refused call, newest first. Entries are chained by hashes and never change.",
    filters: "Filters",
    from: "From",
    to: "Until",
    actor: "Who",
    anyone: "Anyone",
    operation: "Operation",
    operationHint: "For example task.delete",
    outcome: "Outcome",
    outcomes: { 0: "All", 1: "Done", 2: "Refused" },
    none: "No entry matches.",
    ownReads: (count: number) => `You read pages that are logged: ${count} entries`,
    more: "Older entries",
  },
  {
    about:
      "Jede Änderung in diesem Team und jeder abgewiesene Aufruf, neueste zuerst. Einträge sind durch Hashes verkettet und ändern sich nie.",
    filters: "Filter",
    from: "Von",
    to: "Bis",
    actor: "Wer",
    anyone: "Alle",
    operation: "Operation",
    operationHint: "Zum Beispiel task.delete",
    outcome: "Ergebnis",
    outcomes: { 0: "Alle", 1: "Ausgeführt", 2: "Abgewiesen" },
    none: "Kein Eintrag passt.",
    ownReads: (count: number) => `Sie haben protokollierte Seiten gelesen: ${count} Einträge`,
    more: "Ältere Einträge",
  },
);

const outcomes = [
  [AuditOutcome.UNSPECIFIED, text.outcomes[0]],
  [AuditOutcome.DONE, text.outcomes[1]],
  [AuditOutcome.REFUSED, text.outcomes[2]],
] as const;

/** A local time of a form, in Unix seconds; undefined when it is not filled in. */
const secondsOf = (local: string): bigint | undefined =>
  local === "" ? undefined : BigInt(Math.floor(new Date(local).getTime() / 1000));

const noFilter = {
  from: "",
  to: "",
  accountId: "",
  operation: "",
  outcome: AuditOutcome.UNSPECIFIED as AuditOutcome,
};

/**
 * Entries in their order: reads by the person that follow each other are one run, every other entry is a run
 * of its own.
 */
function runsOf(events: readonly AuditEvent[], ownId: string | undefined): readonly AuditEvent[][] {
  const isOwnRead = ({ accountId, operation }: AuditEvent): boolean =>
    accountId === ownId && isRead(operation);
  const runs: AuditEvent[][] = [];
  for (const event of events) {
    const last = runs.at(-1);
    if (last?.[0] && isOwnRead(last[0]) && isOwnRead(event)) last.push(event);
    else runs.push([event]);
  }
  return runs;
}

/** One entry, or the person's own reads folded into one line. */
function Run({ run, names }: { run: readonly AuditEvent[]; names: ReadonlyMap<string, string> }) {
  const entries = run.map((event) => (
    <AuditEntry key={event.id} event={event} actor={names.get(event.accountId)} />
  ));
  if (run.length === 1) return entries[0];
  return (
    <li className={styles.entry}>
      <details>
        <summary>
          <Icon name="next" />
          <span className="muted">{text.ownReads(run.length)}</span>
        </summary>
        <ul>{entries}</ul>
      </details>
    </li>
  );
}

/** The audit log of the team, with filters. */
export default function AuditPage() {
  const [filter, setFilter] = useState(noFilter);
  const [isOpen, setOpen] = useState(false);
  const set = (part: Partial<typeof noFilter>): void => setFilter({ ...filter, ...part });
  const people = useDirectory().map(accountChoiceOf);
  const names = new Map(people);
  const { from, to, accountId, operation, outcome } = useDeferredValue(filter);
  const [startTime, endTime] = [secondsOf(from), secondsOf(to)];
  const range = {
    ...(startTime === undefined ? {} : { startTime }),
    ...(endTime === undefined ? {} : { endTime }),
  };
  const log = useInfiniteQuery(
    AuditService.method.listAuditEvents,
    { limit: 50, cursor: "", accountId, operation: operation.trim(), outcome, ...range },
    {
      pageParamKey: "cursor",
      getNextPageParam: (page) => page.nextCursor || undefined,
      placeholderData: (kept) => kept,
    },
  );
  const me = useMe();
  const found = log.data?.pages.flatMap((page) => page.data);
  return (
    <>
      <p className="muted">{text.about}</p>
      <button
        type="button"
        className={`button ${styles.open}`}
        aria-expanded={isOpen}
        aria-controls="filters"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="gear" />
        {text.filters}
      </button>
      <div id="filters" className={isOpen ? styles.filters : `${styles.filters} ${styles.folded}`}>
        <SelectField
          label={text.actor}
          value={filter.accountId}
          options={[["", text.anyone], ...people]}
          onValue={(id) => set({ accountId: id })}
        />
        <TextField
          label={text.operation}
          placeholder={text.operationHint}
          maxLength={128}
          value={filter.operation}
          onValue={(name) => set({ operation: name })}
        />
        <SelectField<AuditOutcome>
          label={text.outcome}
          value={filter.outcome}
          options={outcomes}
          onValue={(next) => set({ outcome: next })}
        />
        <TextField
          label={`${text.from} (${zoneName})`}
          type="datetime-local"
          value={filter.from}
          onValue={(next) => set({ from: next })}
        />
        <TextField
          label={`${text.to} (${zoneName})`}
          type="datetime-local"
          value={filter.to}
          onValue={(next) => set({ to: next })}
        />
      </div>
      <ErrorNote error={log.error} onRetry={() => void log.refetch()} />
      {found?.length === 0 && <p>{text.none}</p>}
      {found && found.length > 0 && (
        <ul className="card">
          {runsOf(found, me.data?.userId).map((run) => (
            <Run key={run[0]?.id} run={run} names={names} />
          ))}
        </ul>
      )}
      {log.hasNextPage && (
        <div className="actions">
          <button
            type="button"
            className="button"
            disabled={log.isFetching}
            onClick={() => void log.fetchNextPage()}
          >
            {text.more}
          </button>
        </div>
      )}
    </>
  );
}
