import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { linkedId } from "../core/skills/download.ts";
import type { EventPayloads, PlanStep, TaskEvent } from "../core/tasks/event.ts";
import type { RemoteRun } from "../core/workers/remote-run.ts";
import type { EventSchema } from "../gen/proto/worker/v1/event_pb.ts";
import type { MessageSchema, RunSchema } from "../gen/proto/worker/v1/run_pb.ts";
import type { Link } from "./event.ts";

/** A run as a worker is given it, with fresh links to its files. */
export const runMessage = (run: RemoteRun, link: Link): MessageInitShape<typeof RunSchema> => ({
  ...{ taskId: run.taskId, fence: run.fence, leaseSeconds: run.leaseMs / 1000, claim: run.claim },
  ...{ title: run.title, locale: run.locale, profile: run.profile, instruction: run.instruction, interactive: run.interactive },
  earlier: [...run.earlier],
  messages: run.asked.map((message) => requestMessage(message, link)),
  events: run.written.map(({ event, key }) => ({ seq: event.seq, event: { key, payload: payloadOf(event) } })),
  decisions: [...run.decisions],
  taskReferences: [...run.references],
  skills: run.skills.map(({ id, name, description, forced }) => ({ id, name, description, forced, url: link(linkedId(id)) })),
  connectors: run.connectors.map(({ uid, name, tools }) => ({
    ...{ id: uid, name },
    tools: tools.map(({ policy, ...tool }) => ({ ...tool, asks: policy === "ask" })),
  })),
  ...(run.subtasks === null
    ? {}
    : { mayBeginSubtasks: true, subtasks: run.subtasks.map(({ id: taskId, title, status, said }) => ({ taskId, title, status, said })) }),
  ...(run.outputSchema === null ? {} : { outputSchema: run.outputSchema }),
  ...(run.memo === null ? {} : { memo: fromJson(ValueSchema, run.memo) }),
});

/** A user's message with links to its files. */
export const requestMessage = (
  { content, attachments = [] }: EventPayloads["user_message"],
  link: Link,
): MessageInitShape<typeof MessageSchema> => ({
  content,
  files: attachments.map(({ fileId, filename, contentType, bytes }) => ({ filename, contentType, bytes, url: link(fileId) })),
});

/** As it was appended; what no worker can append has none. */
function payloadOf(event: TaskEvent): NonNullable<MessageInitShape<typeof EventSchema>["payload"]> {
  switch (event.type) {
    case "assistant_message":
      return { case: "assistantMessage", value: { content: event.payload.content } };
    case "plan_update":
      return { case: "planUpdate", value: { steps: event.payload.steps.map(stepMessage) } };
    case "new_plan_step":
      return { case: "newPlanStep", value: event.payload };
    case "tool_used":
      return { case: "toolUsed", value: useMessage(event.payload) };
    case "explanation":
      return { case: "explanation", value: event.payload };
    default:
      return { case: undefined };
  }
}

function useMessage({ result, ...said }: EventPayloads["tool_used"]) {
  return result === undefined ? said : { ...said, result: fromJson(ValueSchema, result) };
}

const stepMessage = ({ status, title, startedAt, endAt }: PlanStep) => ({
  ...{ status, title },
  ...(startedAt === undefined ? {} : { startedAt: BigInt(startedAt) }),
  ...(endAt === undefined ? {} : { endAt: BigInt(endAt) }),
});
