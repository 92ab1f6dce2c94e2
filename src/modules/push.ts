import { userAgent } from "../config/version.ts";
import { TaskEventSchema } from "../gen/proto/task/v2/task_event_pb.ts";
import { type PushSender, startPushSender } from "../protocols/a2a/push/sender.ts";
import { eventMessage } from "../rpc/event.ts";
import { guardedPost } from "../webhooks/post.ts";
import { jsonWriter } from "./json-writer.ts";
import type { ProcessContext } from "./process-context.ts";
import type { Shared } from "./shared.ts";

const writeEvent = jsonWriter(TaskEventSchema);

/** Starts sending push notifications of A2A in this process. */
export function startPushes(context: ProcessContext, { files: { link } }: Shared): PushSender {
  const { config, clock, resolve, test } = context;
  return startPushSender({
    ...context,
    post: guardedPost({ clock, resolve, allowed: config.webhookAllow, around: test?.post }),
    userAgent,
    // As `task.watch` sends it.
    eventOf: (event) => JSON.parse(writeEvent(eventMessage(event, link))),
    metadataOf: async (taskId) => (await context.store.tasks.byId(taskId))?.metadata ?? {},
    taskUrl: (taskId) => `${config.appUrl}/app/${taskId}`,
  });
}
