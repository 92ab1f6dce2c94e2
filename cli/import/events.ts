import { type Fields, fieldsOf, listOf, pick, textOf } from "./source.ts";

/** A file of an event at its source. */
export interface SourceFile {
  /** The id of the event, `/`, and the position in it. */
  readonly id: string;
  readonly filename: string;
  readonly url: string;
}

/** An event as `import.taskEvents` takes it, with its files. */
export interface SourceEvent {
  readonly message: Record<string, unknown>;
  readonly files: readonly SourceFile[];
}

const members: Readonly<Record<string, readonly string[]>> = {
  user_message: ["content", "message_type"],
  assistant_message: ["content", "delivery_kind"],
  error_message: ["error_type", "content"],
  status_update: ["agent_status", "brief", "description"],
  user_stop: [],
  structured_output_result: ["success", "value", "error"],
  tool_used: ["tool", "action_id", "status", "brief", "description", "message", "params", "result"],
  plan_update: [],
  new_plan_step: ["step_id", "title"],
  explanation: ["content"],
};

/** Reads an event of the source; null for one of a type that this version does not know. */
export function eventOf(event: Fields): SourceEvent | null {
  const type = textOf(event["type"]);
  const names = members[type];
  if (names === undefined) return null;
  const payload = fieldsOf(event[type]);
  const id = textOf(event["id"]);
  const attachments = listOf(payload["attachments"]);
  return {
    message: {
      ...pick(event, "id", "timestamp"),
      [type]: { ...pick(payload, ...names), ...partsOf(type, payload, attachments) },
    },
    files: attachments.map((each, index) => ({
      id: `${id}/${index}`,
      filename: textOf(each["filename"]),
      url: textOf(each["url"]),
    })),
  };
}

/** The members that are objects or lists: links and ids of the source are left out. */
function partsOf(type: string, payload: Fields, attachments: readonly Fields[]): object {
  switch (type) {
    case "user_message":
      return { attachments: attachments.map(attachmentOf) };
    case "assistant_message": {
      const asked = payload["question_expectation"];
      return {
        attachments: attachments.map(attachmentOf),
        ...(asked ? { question_expectation: pick(fieldsOf(asked), "options", "selection_mode") } : {}),
      };
    }
    case "status_update": {
      const detail = payload["status_detail"];
      const names = ["waiting_for_event_type", "waiting_description", "confirm_input_schema"];
      return detail ? { status_detail: pick(fieldsOf(detail), ...names) } : {};
    }
    case "plan_update":
      return {
        steps: listOf(payload["steps"]).map((step) => pick(step, "status", "title", "started_at", "end_at")),
      };
    default:
      return {};
  }
}

const attachmentOf = (attachment: Fields) => pick(attachment, "type", "filename", "content_type");
