import { limitPerKey } from "../../async/limit.ts";
import type { Clock } from "../../core/clock.ts";
import { causeText } from "../../core/failure.ts";
import type { Recording } from "../../core/files/fetch-files.ts";
import { senderDisconnected } from "../../core/files/meter.ts";
import type { Log } from "../../core/log.ts";
import { findPayer, limitWarnings, type TranscribeRecordings } from "../../core/speech/transcript.ts";
import type { Tx } from "../../core/store.ts";
import { canAfford } from "../../core/usage/spend.ts";
import { limitTime, unlessAborted } from "../egress/time-limit.ts";
import type { Transcribe } from "./endpoint.ts";

const bytesMax = 20 * 1024 * 1024;
/** The time for all recordings of a message, in milliseconds. */
const timeMs = 60_000;
/** Characters of all transcripts of a message. */
const charactersMax = 20_000;
/** Recordings of one account that a process transcribes at the same time. */
const atOnce = 2;

export interface TranscriptsParts {
  /** Null: recordings are not transcribed. */
  readonly transcribe: Transcribe | null;
  /** Millionths of a credit for each MiB of a recording. */
  readonly price: number;
  readonly store: Pick<Tx, "tasks" | "budgets">;
  readonly clock: Clock;
  readonly log: Log;
}

/** The transcript of a recording, or the reason why there is none. */
type Result = { readonly text: string } | { readonly reason: string };

/** Creates the function that transcribes recordings within the limits of spec/decisions.md 69. */
export function transcripts({
  transcribe,
  price,
  store,
  clock,
  log,
}: TranscriptsParts): TranscribeRecordings {
  const limited = limitPerKey(atOnce);
  const priceOf = ({ bytes }: Recording): bigint => (BigInt(price) * BigInt(bytes) + 1_048_575n) / 1_048_576n;
  const refusalOf = ({ bytes }: Recording): string | null =>
    transcribe === null
      ? "this server does not transcribe speech"
      : bytes > bytesMax
        ? "it is over 20 MiB"
        : null;

  async function attempt(
    call: Transcribe,
    accountId: string,
    recording: Recording,
    signal: AbortSignal,
  ): Promise<Result> {
    try {
      const heard = limited(accountId, async () => {
        signal.throwIfAborted(); // The time was up before its turn.
        return call(recording, signal);
      });
      return { text: clean(await unlessAborted(signal, heard)) };
    } catch (thrown) {
      if (signal.aborted) return { reason: `the transcription took more than ${timeMs / 1000} s` };
      log("warn", `a recording was not transcribed: ${causeText(thrown)}`, { cause: thrown });
      return { reason: "the transcription service failed" };
    }
  }

  async function attemptAll(
    call: Transcribe,
    accountId: string,
    recordings: readonly Recording[],
    gone: AbortSignal,
  ): Promise<Result[]> {
    const time = limitTime(clock, timeMs, gone);
    try {
      return await Promise.all(
        recordings.map((recording) => attempt(call, accountId, recording, time.signal)),
      );
    } finally {
      time.stop();
    }
  }

  return async (caller, target, recordings, gone) => {
    const accepted = recordings.filter((one) => refusalOf(one) === null);
    const results = new Map<Recording, Result>(
      recordings.map((one) => [one, { reason: refusalOf(one) ?? "" }]),
    );
    if (transcribe !== null && accepted.length > 0) {
      const total = accepted.reduce((sum, one) => sum + priceOf(one), 0n);
      const affordable = await canAfford(store, await findPayer(store, caller, target), total, clock.now());
      const heard = affordable ? await attemptAll(transcribe, caller.accountId, accepted, gone) : [];
      for (const [i, one] of accepted.entries())
        results.set(one, heard[i] ?? { reason: "a budget has too few credits" });
    }
    if (gone.aborted) throw senderDisconnected();
    return collect(results, priceOf);
  };
}

/** Accepts transcripts in the order of the parts, while they are within the limit of characters. */
function collect(
  results: ReadonlyMap<Recording, Result>,
  priceOf: (recording: Recording) => bigint,
): Awaited<ReturnType<TranscribeRecordings>> {
  const texts = new Map<string, string>();
  const warnings: string[] = [];
  let [price, left] = [0n, charactersMax];
  for (const [recording, result] of results) {
    const reason =
      "reason" in result
        ? result.reason
        : result.text.length > left
          ? `the transcripts have over ${charactersMax} characters`
          : null;
    if (reason !== null) warnings.push(`${recording.path}: the recording was not transcribed: ${reason}`);
    if (reason !== null || "reason" in result) continue;
    left -= result.text.length;
    price += priceOf(recording);
    if (result.text !== "") texts.set(recording.path, result.text);
  }
  return { texts, warnings: limitWarnings(warnings), price };
}

/** Text without control characters and halves of characters: databases refuse some of them. */
const clean = (text: string): string =>
  text
    .replaceAll(/[^\P{Cc}\t\n]/gu, "")
    .toWellFormed()
    .trim();
