import type { Decision, EndedWait, HistoryEntry, Message, Run } from "../generated/worker.ts";
import type { JsonObject, JsonValue } from "../json.ts";

/**
 * What the turns before a question leave for the run that has its answer. The agent's function runs again
 * from its beginning: what it has done already is not done again.
 */
export interface Past {
  /** The number of user messages in each earlier turn, oldest first. The texts are in the history. */
  readonly counts: readonly number[];
  /** Keys of events that those turns have written. */
  readonly keys: readonly string[];
  /** Results of steps, by their keys. */
  readonly results: JsonObject;
  readonly decisions: readonly Decision[];
  readonly waits: readonly EndedWait[];
}

/** A run as the agent sees it: the turns before its questions are part of it. */
export interface Replay {
  /** The messages that began the work. */
  readonly messages: readonly Message[];
  /** The answers to its questions so far, in order. */
  readonly answers: readonly string[];
  /** What happened before those messages. */
  readonly history: readonly HistoryEntry[];
  readonly past: Past;
  /** The agent's own memo. */
  readonly memo: JsonValue | undefined;
}

const nothing: Past = { counts: [], keys: [], results: {}, decisions: [], waits: [] };
/** The member under which the past is in the memo. */
const pastName = "$past";
/** The largest memo that the server takes, as JSON (`worker.v1.Ask.memo`). */
const memoBytes = 65_536;

const textOf = (messages: readonly { readonly content?: string }[]): string =>
  messages.map(({ content = "" }) => content).join("\n");

/** Reads a run. */
export function replayOf(run: Run): Replay {
  const { messages = [], history = [] } = run;
  const kept = memoIn(run.memo);
  const turns = kept && earlierTurns(history, kept.past.counts);
  if (!kept || !turns)
    return { messages, answers: [], history, past: nothing, memo: kept ? kept.memo : run.memo };
  const [first, ...answered] = [...turns.messages, messages];
  return {
    messages: first ?? messages,
    answers: answered.map(textOf),
    history: turns.before,
    past: kept.past,
    memo: kept.memo,
  };
}

/** The past in a memo; undefined for a memo that the agent wrote itself. */
function memoIn(
  memo: JsonValue | undefined,
): { readonly past: Past; readonly memo: JsonValue | undefined } | undefined {
  if (typeof memo !== "object" || memo === null || !(pastName in memo)) return undefined;
  const { [pastName]: past, memo: own }: { readonly [pastName]?: unknown; readonly memo?: JsonValue } = memo;
  // Only `memoOf` writes this member.
  return { past: past as Past, memo: own };
}

/** The user's messages of the earlier turns; undefined when the history has lost some. */
function earlierTurns(history: readonly HistoryEntry[], counts: readonly number[]) {
  const places = history.flatMap(({ role }, index) => (role === "user" ? [index] : []));
  let from = places.length - counts.reduce((sum, count) => sum + count, 0);
  if (from < 0) return undefined;
  const before = history.slice(0, places[from] ?? history.length);
  const messages = counts.map((count) => {
    const entries = places.slice(from, from + count).flatMap((index) => history[index] ?? []);
    from += count;
    return entries.map(({ content = "", files = [] }): Message => ({ content, files }));
  });
  return { before, messages };
}

/** The memo of an ending. @throws RangeError when it is larger than the server takes */
export function memoOf(past: Past, own: JsonValue | undefined): JsonValue | undefined {
  const isEmpty = past.counts.length === 0;
  if (isEmpty && own === undefined) return undefined;
  const text = JSON.stringify(isEmpty ? own : { [pastName]: past, memo: own });
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > memoBytes)
    throw new RangeError(
      `the state of the turn has ${bytes} bytes; at most ${memoBytes} are kept over a question or an approval`,
    );
  return JSON.parse(text) as JsonValue;
}

/** The past after this turn has ended with a question. */
export function pastAfter({ past }: Replay, run: Run, keys: Iterable<string>, results: JsonObject): Past {
  return {
    counts: [...past.counts, run.messages?.length ?? 0],
    keys: [...new Set([...past.keys, ...keys])],
    results: { ...past.results, ...results },
    // Secrets that a user has entered are not written into the memo.
    decisions: [
      ...past.decisions,
      ...(run.decisions ?? []).map(({ input, ...rest }) =>
        rest.kind === "webdevRequestSecrets" || !input ? rest : { ...rest, input },
      ),
    ],
    waits: [...past.waits, ...(run.waits ?? [])],
  };
}
