import { create } from "@bufbuild/protobuf";
import { userAgent } from "../config/version.ts";
import type { TaskEvent } from "../core/tasks/event.ts";
import { TaskEventSchema } from "../gen/proto/task/v2/task_event_pb.ts";
import { compileBareWriter } from "../http/v2/writer.ts";
import { type PushSender, startPushSender } from "../protocols/a2a/push/sender.ts";
import { eventMessage, type Link } from "../rpc/event.ts";
import { guardedPost } from "../webhooks/post.ts";
import type { FileParts } from "./files.ts";
import type { ProcessContext } from "./process-context.ts";

const writeEvent = compileBareWriter(TaskEventSchema);
/** An event as `task.watch` sends it. */
const eventOf = (event: TaskEvent, link: Link) => JSON.parse(writeEvent(create(TaskEventSchema, eventMessage(event, link))));

/** Reports new configurations of push notifications in this process. */
export interface PushNews {
  created(taskId: string): void;
  onCreated(listener: (taskId: string) => void): void;
}

export function pushNews(): PushNews {
  const listeners: ((taskId: string) => void)[] = [];
  return {
    created(taskId) {
      for (const listener of listeners) listener(taskId);
    },
    onCreated: (listener) => void listeners.push(listener),
  };
}

/** Starts sending push notifications of A2A in this process. */
export function startPushes(context: ProcessContext, { links }: Pick<FileParts, "links">, news: Pick<PushNews, "onCreated">): PushSender {
  const { config, clock, resolve, test } = context;
  const sender = startPushSender({
    ...context,
    post: guardedPost({ clock, resolve, allowed: config.webhookAllow, around: test?.post }),
    userAgent,
    eventOf: (event) => eventOf(event, (fileId) => links.download(fileId, clock.now())),
    metadataOf: async (taskId) => (await context.store.tasks.byId(taskId))?.metadata ?? {},
    taskUrl: (taskId) => `${config.appUrl}/app/${taskId}`,
  });
  news.onCreated(sender.watch);
  return sender;
}
