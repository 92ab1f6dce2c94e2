import { invalidArgument } from "../../core/failure.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { TurnRequest } from "../../core/tasks/turn-request.ts";

/** The members of a create that its response repeats. */
interface Repeated {
  readonly instructions?: string | undefined;
  readonly previous_response_id?: string | undefined;
  readonly background?: boolean | undefined;
  readonly text?: unknown;
  readonly tools?: unknown;
  readonly tool_choice?: unknown;
}

/**
 * What is kept of a create in OpenAI's form with its message.
 *
 * @throws Failure `invalid_argument` for tools that the agent would have to use: it uses its own (spec/v1.md
 * 7.2).
 */
export function turnRequestOf(
  { instructions, previous_response_id, background, text, tools, tool_choice }: Repeated,
  instruction: string,
): { turn?: TurnRequest } {
  checkToolChoice(tool_choice);
  if (tools !== undefined && !Array.isArray(tools)) throw invalidArgument("tools", "must be an array");
  const given = {
    instructions,
    previous_response_id,
    background,
    text,
    tool_choice,
    ...(tools?.length ? { tools } : {}),
  };
  const echo = JSON.parse(JSON.stringify(given)) as JsonObject;
  return instruction === "" && Object.keys(echo).length === 0 ? {} : { turn: { instruction, echo } };
}

const choicesMet: readonly Json[] = ["auto", "none"];

function checkToolChoice(choice: unknown): void {
  if (choice === undefined || choicesMet.includes(choice as Json)) return;
  const rule =
    "must be auto or none, because the agent uses its own tools: leave it out, and give the agent tools by a connector";
  throw invalidArgument("tool_choice", rule);
}
