import { Failure } from "../../../../core/failure.ts";
import type { Turn } from "../../../agent.ts";
import type { Tool } from "../tool.ts";

const messageMax = 20_000;

/** Begins a subtask; there only in an agent's main task (contract/v2.md 9.11). */
export const startSubtask = ({ subtask }: Pick<Turn, "subtask">): readonly Tool[] => (subtask ? [toolOf(subtask)] : []);

const toolOf = (subtask: NonNullable<Turn["subtask"]>): Tool => ({
  name: "start_subtask",
  description:
    "Begins a subtask: work on its own, beside this conversation, which the user can follow and steer. It knows nothing of this conversation, so its message says all that it needs. You are given its id at once, and do not wait for its end.",
  inputSchema: {
    type: "object",
    properties: { message: { type: "string", minLength: 1, maxLength: messageMax } },
    required: ["message"],
    additionalProperties: false,
  },
  brief: ({ message }) => `Begin a subtask: ${message}`,
  async use({ input }) {
    try {
      // The schema has let nothing else in.
      const made = await subtask(input["message"] as string);
      return { kind: "result", value: { task_id: made.id, status: "running" }, subtask: made };
    } catch (thrown) {
      if (thrown instanceof Failure && (thrown.reason === "exhausted" || thrown.reason === "invalid")) {
        return { kind: "result", value: thrown.message, isError: true };
      }
      throw thrown;
    }
  },
});
