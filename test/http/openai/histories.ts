import { create, type MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import { AttachmentType } from "../../../src/gen/proto/task/v2/task_attachment_pb.ts";
import { type TaskEvent, TaskEventSchema } from "../../../src/gen/proto/task/v2/task_event_pb.ts";
import { TaskStatus } from "../../../src/gen/proto/task/v2/task_pb.ts";

type Payload = NonNullable<MessageInitShape<typeof TaskEventSchema>["payload"]>;

export const said = {
  user: (content: string, ...files: string[]): Payload => ({
    case: "userMessage",
    value: { content, attachments: files.map(attachment) },
  }),
  agent: (content: string, deliveryKind = "progress", ...files: string[]): Payload => ({
    case: "assistantMessage",
    value: { content, deliveryKind, attachments: files.map(attachment) },
  }),
  failure: (errorType: string, content: string): Payload => ({
    case: "errorMessage",
    value: { errorType, content },
  }),
  thought: (content: string): Payload => ({ case: "explanation", value: { content } }),
  approval: (): Payload => ({ case: "toolUsed", value: { tool: "terminal", actionId: "a" } }),
  stop: (): Payload => ({ case: "userStop", value: {} }),
  status: (agentStatus: TaskStatus): Payload => ({ case: "statusUpdate", value: { agentStatus } }),
  result: (): Payload => ({ case: "structuredOutputResult", value: { success: true, value: {} } }),
};

const attachment = (filename: string) => ({
  type: AttachmentType.FILE,
  filename,
  url: `https://files.test/${filename}`,
});

/** A task's events from the first on, numbered as the store numbers them. */
export const history = (...payloads: readonly Payload[]): TaskEvent[] =>
  payloads.map((payload, i) => create(TaskEventSchema, { id: `ev_t_${i + 1}`, seq: i + 1, payload }));

const text = fc.string({ minLength: 1, maxLength: 20 });
const file = fc.array(fc.constantFrom("a.md", "b.csv"), { maxLength: 2 });

const within: fc.Arbitrary<Payload> = fc.oneof(
  fc.tuple(text, file).map(([content, files]) => said.user(content, ...files)),
  fc
    .tuple(fc.constantFrom("", "Half way", "Done"), file)
    .map(([content, files]) => said.agent(content, "progress", ...files)),
  text.map(said.thought),
  // A turn that is followed at once by another ends with its last message, without a status.
  text.map((content) => said.failure("internal", content)),
);

const ended: fc.Arbitrary<readonly Payload[]> = fc.constantFrom(
  [said.agent("Here it is", "result"), said.status(TaskStatus.STOPPED)],
  [said.agent("Here it is", "result"), said.status(TaskStatus.STOPPED), said.result()],
  [said.agent("Which one?", "question"), said.status(TaskStatus.WAITING)],
  [said.approval(), said.status(TaskStatus.WAITING)],
  [said.failure("internal", "It broke"), said.status(TaskStatus.ERROR)],
  [said.stop(), said.status(TaskStatus.STOPPED)],
);

const begun: fc.Arbitrary<readonly Payload[]> = fc.oneof(
  text.map((content) => [said.user(content), said.status(TaskStatus.RUNNING)]),
  // A decision on a pending action, and a stop instead of a decision.
  fc.constant([said.approval(), said.status(TaskStatus.RUNNING)]),
  fc.constant([
    said.stop(),
    said.status(TaskStatus.STOPPED),
    said.user("Again"),
    said.status(TaskStatus.RUNNING),
  ]),
);

const turn = fc.tuple(begun, fc.array(within, { maxLength: 4 }), ended).map((parts) => parts.flat());

/** Histories of one to four turns. The last turn may still run. */
export const histories: fc.Arbitrary<TaskEvent[]> = fc
  .tuple(fc.array(turn, { minLength: 1, maxLength: 4 }), fc.nat(3))
  .map(([turns, cut]) => turns.flat().slice(0, Math.max(1, turns.flat().length - cut)))
  .map((payloads) => history(...payloads));
