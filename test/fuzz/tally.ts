import type { Outcome } from "./client.ts";
import type { FuzzRequest } from "./request.ts";

/** What is wrong with answers of one sort, with the shortest request that showed it. */
export interface Complaint {
  readonly text: string;
  /** What was called. */
  readonly rpcs: Set<string>;
  count: number;
  /** The number of the first request that showed it. */
  readonly first: number;
  /** The number of the shortest. */
  nth: number;
  request: FuzzRequest;
  outcome: Outcome;
}

/** The count of a run. */
export interface Tally {
  count(nth: number, request: FuzzRequest, outcome: Outcome, flaws: readonly string[]): void;
  /** Complains about a request that was counted, for what it did rather than for its answer. */
  complain(nth: number, request: FuzzRequest, outcome: Outcome, flaws: readonly string[]): void;
  readonly sent: number;
  readonly complaints: readonly Complaint[];
  /** Requests by wire and kind, and answers by wire and status, as two tables. */
  table(): string;
}

export function tally(): Tally {
  const requests = new Map<string, Map<string, number>>();
  const answers = new Map<string, Map<string, number>>();
  const complaints = new Map<string, Complaint>();
  let sent = 0;

  function complain(text: string, nth: number, request: FuzzRequest, outcome: Outcome): void {
    const known = complaints.get(text);
    if (known) known.count += 1;
    known?.rpcs.add(request.rpc);
    if (known && sizeOf(known.request) <= sizeOf(request)) return;
    if (known) Object.assign(known, { nth, request, outcome });
    else
      complaints.set(text, {
        text,
        rpcs: new Set([request.rpc]),
        count: 1,
        first: nth,
        nth,
        request,
        outcome,
      });
  }

  const complainOf: Tally["complain"] = (nth, request, outcome, flaws) =>
    complain(`${request.wire}: ${flaws.join("; ")}`, nth, request, outcome);

  return {
    count(nth, request, outcome, flaws) {
      sent += 1;
      add(requests, request.wire, request.kind);
      add(answers, request.wire, wordOf(outcome));
      if (flaws.length > 0) complainOf(nth, request, outcome, flaws);
    },
    complain: complainOf,
    get sent() {
      return sent;
    },
    get complaints() {
      return [...complaints.values()];
    },
    table: () => `${tableOf("requests", requests)}\n\n${tableOf("answers", answers)}`,
  };
}

const sizeOf = ({ path, headers, body }: FuzzRequest): number =>
  path.length + JSON.stringify(headers).length + body.length;

function add(rows: Map<string, Map<string, number>>, row: string, column: string): void {
  const cells = rows.get(row) ?? new Map<string, number>();
  rows.set(row, cells.set(column, (cells.get(column) ?? 0) + 1));
}

/** A stream that the client went away from counts apart from one that ended. */
function wordOf(outcome: Outcome): string {
  if ("unanswered" in outcome) return "none";
  if ("silent" in outcome) return "silent";
  const { status, headers, trailers, cut } = outcome.answer;
  const code = trailers["grpc-status"] ?? headers["grpc-status"];
  return `${status}${code === undefined ? "" : `/${code}`}${cut ? " open" : ""}`;
}

function tableOf(title: string, rows: ReadonlyMap<string, ReadonlyMap<string, number>>): string {
  const columns = [...new Set([...rows.values()].flatMap((cells) => [...cells.keys()]))].toSorted();
  const lines = [...rows].map(([row, cells]) => [
    row,
    ...columns.map((column) => String(cells.get(column) ?? "")),
  ]);
  const table = [[title, ...columns], ...lines.toSorted(([a = ""], [b = ""]) => a.localeCompare(b))];
  const widths = table[0]?.map((_, at) => Math.max(...table.map((line) => line[at]?.length ?? 0))) ?? [];
  return table
    .map((line) =>
      line
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join("  "),
    )
    .join("\n");
}
