import type { ClearedPart, ResultPart, SummaryPart } from "../../../core/tasks/transcript.ts";
import type { Progress } from "../../agent.ts";
import type { Answer } from "./answer.ts";
import { contextError, TurnError } from "./fault.ts";
import {
  bytesOf,
  bytesOfRequest,
  type Measured,
  measure,
  requestOf,
  rowOf,
  type SentImage,
  summaryIn,
  summaryRequest,
  textPart,
  wordsOf,
} from "./request.ts";
import type { Run } from "./run.ts";
import { partsOf, type Row, type RowMembers } from "./transcript.ts";

/** The part of the context from which on old results are cleared, and the part that is cleared at once. */
const clear = { at: 0.6, atLeast: 0.2 } as const;
/** The newest results stay; when nothing else makes a request short enough, only the newest one does. */
const kept = { usually: 5, atMost: 1 } as const;
/**
 * The part of the context from which on a summary replaces older rows, the most that the newest rows and the
 * words of the user take after it, and the least that it must save.
 */
const summarize = { at: 0.8, newest: 0.1, users: 0.5, saves: 0.1 } as const;

/** Asks the model with a request that is not the next one of the transcript. */
type Ask = (call: Measured) => AsyncGenerator<Progress, Answer, void>;
/** A compaction before it is measured. */
type Compaction = Omit<ClearedPart, "tokens"> | Omit<SummaryPart, "tokens">;

/**
 * The next request. When it takes much of the context, old results are cleared, and then the model writes a
 * summary. Each is written before the request that follows it.
 *
 * @param max the most tokens of a request. @param extra tokens that the call has besides the rows.
 * @throws TurnError `context_limit` for a message that does not fit.
 */
export async function* fittingCall(
  run: Run,
  { max, extra }: { readonly max: number; readonly extra: number },
  ask: Ask,
): AsyncGenerator<Progress, Measured, void> {
  const { rows } = run.transcript;
  for (let asks = true; ; ) {
    const measured = measure(rows);
    const images = imagesToClear(measured.request.images);
    if (images.length > 0) {
      yield compact(run, measured, { type: "cleared", toolCallIds: [], images });
      continue;
    }
    const size = { ...measured, tokens: measured.tokens + extra };
    const toolCallIds = resultsToClear(rows, size, max);
    const range: Range | null = toolCallIds.length === 0 && asks ? rangeToReplace(rows, size, max) : null;
    const summary: Answer | null = range && (yield* summaryOf(rows, range, max, ask));
    // Without a summary the next step asks again, as long as the request fits.
    if (range) asks = summary !== null;
    if (toolCallIds.length > 0) yield compact(run, size, { type: "cleared", toolCallIds });
    else if (range && (summary || size.tokens > max))
      yield compact(run, size, { type: "summary", text: summary?.text.trim() ?? null, ...range }, summary);
    else if (size.tokens <= max) return size;
    else yield compact(run, size, { type: "cleared", toolCallIds: lastToClear(rows) });
  }
}

/** The most images of a request, and bytes of them, and the number of the oldest that are cleared at once. */
const sent = { images: 20, bytes: 20 * 1024 ** 2, cleared: 10 } as const;

/** The images that are cleared before the next request, oldest first. The newest one stays. */
function imagesToClear(images: readonly SentImage[]): readonly number[] {
  const bytes = images.reduce((sum, image) => sum + image.bytes, 0);
  if (images.length <= sent.images && bytes <= sent.bytes) return [];
  return images.slice(0, Math.min(sent.cleared, Math.ceil(images.length / 2))).map(({ id }) => id);
}

/**
 * Clears the images that the model's service has not answered so far, after it has refused a request: one
 * that it cannot read would fail the task in each later request. Null when there are none.
 */
export function clearRefused(run: Run, call: Measured): Progress | null {
  const { rows } = run.transcript;
  const since = rows.slice(rows.findLastIndex(({ role }) => role === "assistant") + 1);
  const added = new Set(partsOf(since, "image").map(({ id }) => id));
  const images = call.request.images.flatMap(({ id }) => (added.has(id) ? [id] : []));
  return images.length === 0
    ? null
    : compact(
        run,
        call,
        { type: "cleared", toolCallIds: [], images },
        null,
        "the service of the model refused them",
      );
}

/** Adds a compaction. Returns it to be written, with an event about it. */
function compact(
  { transcript, config, record }: Run,
  { tokens }: Measured,
  part: Compaction,
  summary: Answer | null = null,
  whyImages = `a request has at most ${sent.images} of them`,
): Progress {
  const planned = (after: number) => [{ ...part, tokens: { before: tokens, after } }];
  const after = measure([...transcript.rows, rowOf("compaction", planned(0))]).tokens;
  transcript.add("compaction", planned(after), summary ? tokensOf(summary, config.model) : {});
  const what =
    part.type === "summary"
      ? "A summary replaces the older part of the conversation, because it filled the model's context"
      : part.images
        ? `${part.images.length} images are left out, because ${whyImages}`
        : `The results of ${part.toolCallIds.length} older uses are left out, because they filled the model's context`;
  const content = `${what}: about ${tokens} tokens before, ${after} after. The agent can still read all of it.`;
  return record([{ type: "explanation", payload: { content } }]);
}

const tokensOf = ({ inputTokens, cachedTokens, outputTokens }: Answer, model: string): RowMembers => ({
  model,
  inputTokens,
  cachedTokens,
  outputTokens,
});

/**
 * The calls whose results are cleared next, oldest first, in one batch: each one makes the rest of the
 * request uncached.
 */
function resultsToClear(
  rows: readonly Row[],
  { tokens, bytesPerToken }: Measured,
  max: number,
): readonly string[] {
  if (tokens <= max * clear.at) return [];
  const goal = max * clear.atLeast * bytesPerToken;
  let bytes = 0;
  const found = sentResults(rows)
    .slice(0, -kept.usually)
    .filter(({ output: { value } }) => {
      const isNeeded = bytes < goal;
      bytes += Buffer.byteLength(value);
      return isNeeded;
    });
  return bytes >= goal ? found.map(({ toolCallId }) => toolCallId) : [];
}

/** The calls whose results are cleared when nothing else helps. @throws TurnError `context_limit` */
function lastToClear(rows: readonly Row[]): readonly string[] {
  const found = sentResults(rows).slice(0, -kept.atMost);
  if (found.length === 0) throw contextError();
  return found.map(({ toolCallId }) => toolCallId);
}

/** The results that a request has in full. */
function sentResults(rows: readonly Row[]): readonly ResultPart[] {
  const cleared = new Set(partsOf(rows, "cleared").flatMap(({ toolCallIds }) => toolCallIds));
  return partsOf(rows.slice(summaryIn(rows)?.from ?? 0), "tool-result").filter(
    ({ toolCallId }) => !cleared.has(toolCallId),
  );
}

type Range = Pick<SummaryPart, "from" | "usersFrom">;

/** The rows that a summary would replace; null when it would save too little. */
function rangeToReplace(
  rows: readonly Row[],
  { tokens, request, bytesPerToken }: Measured,
  max: number,
): Range | null {
  if (tokens <= max * summarize.at) return null;
  const from = startOfNewest(rows, max * summarize.newest * bytesPerToken);
  if (from <= (summaryIn(rows)?.from ?? 0)) return null;
  const range = { from, usersFrom: startOfUsers(rows, from, max * summarize.users * bytesPerToken) };
  const part = { type: "summary", text: null, ...range, tokens: { before: 0, after: 0 } } as const;
  const after = requestOf([...rows, rowOf("compaction", [part])]);
  const saved = (bytesOfRequest(request) - bytesOfRequest(after)) / bytesPerToken;
  return saved >= max * summarize.saves || (tokens > max && saved > 0) ? range : null;
}

/** The first of the newest rows: the last step with its results, or what came after the last answer. */
function startOfNewest(rows: readonly Row[], bytesMax: number): number {
  const last = rows.findLastIndex(({ role }) => role === "assistant");
  const hasCalls = rows[last]?.parts.some(({ type }) => type === "tool-call") ?? false;
  let from = hasCalls ? last : last + 1;
  let bytes = 0;
  // A part of the newest ones begins with an answer or a message, so that each result has its call.
  for (const [index, { role, parts }] of [...rows.entries()].slice(0, from).reverse()) {
    bytes += bytesOf(parts);
    if (bytes > bytesMax) break;
    if (role === "assistant" || role === "user") from = index;
  }
  return from;
}

/** The first row whose texts of the user stay. The oldest are cut when all take too much, never the newest. */
function startOfUsers(rows: readonly Row[], from: number, bytesMax: number): number {
  const words = rows.flatMap((row, index) =>
    wordsOf([row]).map(({ text }) => ({ index, bytes: bytesOf(text) })),
  );
  let bytes = 0;
  const cut = words.findLast((one, place) => {
    bytes += one.bytes;
    return bytes > bytesMax && place < words.length - 1;
  });
  return Math.min(from, cut ? cut.index + 1 : 0);
}

/**
 * Asks the model for a summary: after all rows, or else after those that it replaces. Null when there is none:
 * the call failed, or the text was cut.
 */
async function* summaryOf(
  rows: readonly Row[],
  { from }: Range,
  max: number,
  ask: Ask,
): AsyncGenerator<Progress, Answer | null, void> {
  const asked = rowOf("user", [textPart(summaryRequest)]);
  const call = [rows, rows.slice(0, from)]
    .map((some) => measure([...some, asked]))
    .find(({ tokens }) => tokens <= max);
  if (!call) return null;
  try {
    const answer = yield* ask(call);
    return answer.finish === "stop" && answer.text.trim() !== "" ? answer : null;
  } catch (thrown) {
    if (thrown instanceof TurnError) return null;
    throw thrown;
  }
}
