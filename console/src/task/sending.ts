import { useState } from "react";
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

/** The event of a sent message, once it has come. Until the server has answered, the same text of another tab counts as well. */
export const arrivalOf = ({ afterSeq, content, isSent }: Sending, events: readonly TaskEvent[]): TaskEvent | undefined =>
  events.find(({ seq, payload }) => seq > afterSeq && payload.case === "userMessage" && (isSent || payload.value.content === content));

/** The latest message of the person, from the moment it is sent; a rejection takes it away. */
export function useSending(taskId: string, events: readonly TaskEvent[]) {
  const [sending, setSending] = useState<Sending>();
  /** Changes this message, unless another one has been sent since. */
  const change = (key: string, to: Sending | undefined): void => setSending((latest) => (latest?.key === key ? to : latest));
  return {
    sending: sending?.taskId === taskId ? sending : undefined,
    follow: async (content: string, files: readonly string[], call: () => Promise<unknown>): Promise<void> => {
      const key = crypto.randomUUID();
      const begun = { taskId, key, at: Date.now(), content, files, afterSeq: events.at(-1)?.seq ?? 0, isSent: false };
      setSending(begun);
      try {
        await call();
        change(key, { ...begun, isSent: true });
      } catch (error) {
        change(key, undefined);
        throw error;
      }
    },
  };
}
