import type { TaskEvent } from "#proto/task/v2/task_event_pb.ts";

/** A message that the person has sent, as the page knows it before its event has come. */
export interface Sending {
  readonly taskId: string;
  /** The key of its item, also once it is an event. */
  readonly key: string;
  readonly at: number;
  readonly content: string;
  /** Names of its files. */
  readonly files: readonly string[];
  /** The newest event when it was sent. */
  readonly afterSeq: number;
  /** Whether the server has it. */
  readonly isSent: boolean;
}

/**
 * The event of a sent message, once it has come. Until the server has answered, the same text of another tab
 * counts as well.
 */
export const arrivalOf = (
  { afterSeq, content, isSent }: Sending,
  events: readonly TaskEvent[],
): TaskEvent | undefined =>
  events.find(
    ({ seq, payload }) =>
      seq > afterSeq && payload.case === "userMessage" && (isSent || payload.value.content === content),
  );
