import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { mapIterable } from "../async/map-iterable.ts";
import type { Clock } from "../core/clock.ts";
import type { TaskEvent } from "../core/tasks/event.ts";
import {
  getSharedTask,
  listSharedEvents,
  type SharedContent,
  type SharedEvent,
  toSharedEvent,
} from "../core/tasks/shared-task.ts";
import { type Watches, withKeepAlives } from "../core/tasks/watches.ts";
import type { SharedEventSchema } from "../gen/proto/task/v2/shared_task_pb.ts";
import {
  SharedTaskService,
  WatchSharedTaskResponseSchema,
} from "../gen/proto/task/v2/shared_task_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { attachmentMessage, type Link, stepMessage } from "./event.ts";
import { seconds, taskStatus } from "./wire-values.ts";

export interface SharedTaskParts {
  /** Watches of shared tasks, which count by network address. */
  readonly watches: Watches;
  /** The clock of keep-alive answers. */
  readonly clock: Clock;
  /** Creates a new link to a file's bytes at each read. */
  readonly link: Link;
}

/**
 * A watch with `keep_alive` gets an answer without an event after this many milliseconds of silence
 * (spec/decisions.md 54).
 */
const silenceMs = 15_000;

/** Tasks by their share link (spec/api.md 8.37). */
export function sharedTaskHandlers({ watches, clock, link }: SharedTaskParts) {
  function watchMessage(event: TaskEvent) {
    const shared = toSharedEvent(event);
    return create(WatchSharedTaskResponseSchema, shared ? { event: eventMessage(shared, link) } : {});
  }

  return implement(SharedTaskService, {
    async getSharedTask(tx, caller, { taskId }) {
      const { title, status, createdAt, updatedAt } = await getSharedTask(tx, caller, taskId);
      return {
        task: {
          title,
          status: taskStatus.toValue(status),
          createdAt: seconds(createdAt),
          updatedAt: seconds(updatedAt),
        },
      };
    },
    async listSharedEvents(tx, caller, { taskId, afterSeq = 0, limit = 50 }) {
      const { items, hasMore, nextAfterSeq } = await listSharedEvents(tx, caller, taskId, {
        afterSeq,
        limit,
      });
      return { data: items.map((event) => eventMessage(event, link)), hasMore, nextAfterSeq };
    },
    watchSharedTask: {
      async stream(tx, call, { taskId, afterSeq = 0, untilSettled, keepAlive }) {
        const events = await watches.watch(tx, call, { taskId, afterSeq, untilSettled });
        const answers = events && mapIterable(events, watchMessage);
        return answers && keepAlive
          ? withKeepAlives(answers, () => create(WatchSharedTaskResponseSchema), { clock, silenceMs })
          : answers;
      },
    },
  });
}

type EventMessage = MessageInitShape<typeof SharedEventSchema>;

const eventMessage = ({ seq, timestamp, content }: SharedEvent, link: Link): EventMessage => ({
  seq,
  timestamp: BigInt(timestamp),
  content: contentMessage(content, link),
});

function contentMessage(content: SharedContent, link: Link): NonNullable<EventMessage["content"]> {
  switch (content.kind) {
    case "status":
      return { case: "status", value: taskStatus.toValue(content.status) };
    case "plan":
      return { case: "plan", value: { steps: content.steps.map(stepMessage) } };
    case "user_message":
    case "assistant_message": {
      const { attachments } = content;
      const value = {
        content: content.content,
        attachments: attachments.map((attachment) => attachmentMessage(attachment, link)),
      };
      return { case: content.kind === "user_message" ? "userMessage" : "assistantMessage", value };
    }
  }
}
