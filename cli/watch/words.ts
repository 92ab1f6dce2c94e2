import type { TaskAttachment, TaskEvent, ToolUsed } from "../../packages/client/src/index.ts";
import { clean, oneLine, safeJson } from "../frame/text.ts";

/**
 * What an event says, as a label and a text of one line or more; undefined for an event that adds nothing.
 */
export function wordsOf(event: TaskEvent): { readonly label: string; readonly text: string } | undefined {
  switch (event.type) {
    case "user_message":
      return { label: "you", text: withFiles(event.user_message.content, event.user_message.attachments) };
    case "assistant_message": {
      const { content, attachments, delivery_kind } = event.assistant_message;
      const label =
        delivery_kind === "question" ? "question" : delivery_kind === "progress" ? "progress" : "agent";
      return { label, text: withFiles(content, attachments) };
    }
    case "explanation":
      return { label: "thinking", text: clean(event.explanation.content) };
    case "tool_used":
      return { label: "tool", text: toolText(event.tool_used) };
    case "error_message":
      return {
        label: "error",
        text: `${clean(event.error_message.content)} (${oneLine(event.error_message.error_type)})`,
      };
    case "structured_output_result": {
      const { success, value, error } = event.structured_output_result;
      return { label: "output", text: success ? safeJson(value) : `not valid: ${oneLine(error ?? "")}` };
    }
    case "plan_update": {
      const { steps } = event.plan_update;
      const done = steps.filter(({ status }) => status === "done").length;
      const current = steps.find(({ status }) => status === "doing");
      return {
        label: "plan",
        text: `${done} of ${steps.length} done${current ? `; now: ${oneLine(current.title)}` : ""}`,
      };
    }
    case "status_update":
      return {
        label: "status",
        text: `${event.status_update.agent_status}: ${oneLine(event.status_update.brief)}`,
      };
    case "user_stop":
      return { label: "status", text: "stopped by the user" };
    default:
      return undefined;
  }
}

/** A use of a tool on one line. */
export function toolText({ tool, status, brief, message }: ToolUsed): string {
  const what = message ? `${message.action} ${message.param}` : brief;
  return oneLine(`${tool}: ${what}${status === "success" ? "" : ` (${status.replaceAll("_", " ")})`}`);
}

const withFiles = (content: string, files: readonly TaskAttachment[]): string =>
  [clean(content), ...files.map(({ filename, url }) => `[${oneLine(filename)}] ${oneLine(url)}`)]
    .filter((line) => line !== "")
    .join("\n");
