import { useState } from "react";
import type { TaskEvent } from "#proto/task/v2/task_event_pb.ts";
import type { Sending } from "./sending.ts";

/** The latest message of the person, from the moment it is sent; a rejection takes it away. */
export function useSending(taskId: string, events: readonly TaskEvent[]) {
  const [sending, setSending] = useState<Sending>();
  /** Changes this message, unless another one has been sent since. */
  const change = (key: string, to: Sending | undefined): void =>
    setSending((latest) => (latest?.key === key ? to : latest));
  return {
    sending: sending?.taskId === taskId ? sending : undefined,
    follow: async (
      content: string,
      files: readonly string[],
      call: () => Promise<unknown>,
    ): Promise<void> => {
      const key = crypto.randomUUID();
      const begun = {
        taskId,
        key,
        at: Date.now(),
        content,
        files,
        afterSeq: events.at(-1)?.seq ?? 0,
        isSent: false,
      };
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
