import { appOf, type Caller } from "../accounts/caller.ts";
import { notFound } from "../failure.ts";
import type { Recording } from "../files/fetch-files.ts";
import type { Tx } from "../store.ts";
import { type Payer, payerOf } from "../usage/budget.ts";

export interface Transcripts {
  /** The text of a recording, by the path of its part. A recording without speech has none. */
  readonly texts: ReadonlyMap<string, string>;
  /** One text for each recording without a transcript, at most ten: its path and the reason. */
  readonly warnings: readonly string[];
  /** The price of all transcripts, in millionths of a credit. */
  readonly price: bigint;
}

/** Where a message goes: to an existing task, or to a new one in a project or in none. */
export interface MessageTarget {
  readonly taskId?: string | undefined;
  readonly projectId?: string | undefined;
}

/**
 * Transcribes the recordings of a message, before the change that writes it (spec/decisions.md 69). A
 * recording that cannot be transcribed has a warning; it never fails the call.
 *
 * @param gone aborted when the client no longer waits.
 * @throws Failure `not_found` for an unknown task, `cancelled` when the client no longer waits.
 */
export type TranscribeRecordings = (
  caller: Caller,
  target: MessageTarget,
  recordings: readonly Recording[],
  gone: AbortSignal,
) => Promise<Transcripts>;

/**
 * The payer of a message's transcripts. @throws Failure `not_found` for a task that the caller cannot access.
 */
export async function findPayer(
  tx: Pick<Tx, "tasks">,
  caller: Caller,
  { taskId, projectId }: MessageTarget,
): Promise<Payer> {
  const { accountId, spaceId } = caller;
  if (taskId === undefined)
    return { accountId, spaceId, taskId: null, clientId: appOf(caller), projectId: projectId ?? null };
  const task = await tx.tasks.find(caller, taskId);
  if (!task) throw notFound("task");
  return payerOf(task);
}

const warningsMax = 10;

/** At most ten warnings; the last one counts the others. */
export const limitWarnings = (texts: readonly string[]): readonly string[] =>
  texts.length <= warningsMax
    ? texts
    : [
        ...texts.slice(0, warningsMax - 1),
        `${texts.length - warningsMax + 1} more recordings were not transcribed`,
      ];
