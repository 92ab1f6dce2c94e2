import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import { type Client, isQuestion, type TaskEvent } from "../../../packages/client/src/index.ts";
import { dangerousScope } from "../../core/accounts/caller.ts";
import { actText, roomMax } from "../../core/actions/act.ts";
import { visible } from "../../core/actions/visible.ts";
import { Failure, invalidArgument } from "../../core/failure.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { Rights } from "../../pipeline/access.ts";
import type { Waiting } from "./turn.ts";

/** A form for the user of the client (`elicitation/create`). */
export type Form = Pick<ElicitRequestFormParams, "message" | "requestedSchema">;

type Member = Form["requestedSchema"]["properties"][string];

/**
 * What a protocol shows of an action: all of it; or, when it has too many characters, why it offers no
 * decision, and where a person decides.
 */
export function showAct(waiting: Waiting): { readonly text: string; readonly isWhole: boolean } {
  const {
    waiting_for_event_type: waitingForEventType,
    waiting_description: waitingDescription,
    tool,
    task_url,
  } = waiting;
  // JSON of an answer has no members that are undefined.
  const text = actText({
    kind: waitingForEventType,
    description: waitingDescription,
    tool: tool && { ...tool, params: tool.params as JsonObject | undefined },
  });
  if (text !== null && text.length <= roomMax) return { text, isWhole: true };
  const size =
    text === null
      ? "The server does not say what it does"
      : `It has ${text.length} characters; at most ${roomMax} are shown here`;
  return {
    text: `The agent asks for approval (${visible(waitingForEventType)}). ${size}. Decide it at ${task_url}`,
    isWhole: false,
  };
}

/**
 * Whether a credential can decide about actions: an app can only if its user has granted that
 * (spec/decisions.md 130).
 */
export const mayDecide = ({ credential }: Rights): boolean =>
  credential.kind === "token" ? credential.scopes.includes(dangerousScope) : credential.kind === "key";

/**
 * @throws Failure for an action that a protocol cannot show whole: a person decides there only what was
 * shown.
 */
export function checkShown(waiting: Waiting): void {
  const { text, isWhole } = showAct(waiting);
  if (!isWhole) throw new Failure("failed_precondition", text);
}

/**
 * The form for a wait: a question with its options, or an action with all its rows. Null for an action that a
 * form cannot show whole, or whose decision has members that a form cannot have.
 */
export async function formOf(client: Client, taskId: string, waiting: Waiting): Promise<Form | null> {
  if (!isQuestion(waiting)) return approvalForm(waiting);
  const form = questionForm(waiting, await readEvent(client, taskId, waiting.waiting_for_event_id));
  return form.message.length > roomMax ? null : form;
}

/** An event of a task by its id; undefined when the task has none. @throws ApiError */
export async function readEvent(
  client: Client,
  taskId: string,
  eventId: string,
): Promise<TaskEvent | undefined> {
  const page = { task_id: taskId, start_event_id: eventId, limit: 1, verbose: true };
  const [event] = (await client.tasks.listMessages(page)).messages;
  return event?.id === eventId ? event : undefined;
}

function questionForm({ waiting_description: description }: Waiting, event: TaskEvent | undefined): Form {
  const { content = description, question_expectation: questionExpectation } =
    event?.type === "assistant_message" ? event.assistant_message : {};
  const { options = [], selection_mode: selectionMode } = questionExpectation ?? {};
  const answer: Member = { type: "string", title: options.length > 0 ? "Another answer" : "Answer" };
  const message = visible(content);
  if (options.length === 0)
    return { message, requestedSchema: { type: "object", properties: { answer }, required: ["answer"] } };
  return {
    message,
    requestedSchema: {
      type: "object",
      properties: { choice: choiceOf(options, selectionMode === "multiple"), answer },
    },
  };
}

/** The options; if one has hidden characters, with titles that show them. */
function choiceOf(choices: readonly string[], isMultiple: boolean): Member {
  const titled = choices.map((option) => ({ const: option, title: visible(option) }));
  if (titled.every(({ const: option, title }) => option === title)) {
    const options = { type: "string" as const, enum: [...choices] };
    return isMultiple ? { type: "array", title: "Choices", items: options } : { ...options, title: "Choice" };
  }
  return isMultiple
    ? { type: "array", title: "Choices", items: { anyOf: titled } }
    : { type: "string", title: "Choice", oneOf: titled };
}

/** The JSON Schema of a decision, as the platform writes it. */
export interface DecisionSchema {
  readonly properties?: { readonly [name: string]: MemberSchema };
  readonly required?: readonly string[];
}

interface MemberSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly default?: string | number | boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** The schema of a decision; without members for a question. */
export const decisionSchemaOf = ({ confirm_input_schema: confirmInputSchema }: Waiting): DecisionSchema =>
  (confirmInputSchema ?? {}) as DecisionSchema;

function approvalForm(waiting: Waiting): Form | null {
  const { text, isWhole } = showAct(waiting);
  const { properties = {}, required = [] } = decisionSchemaOf(waiting);
  const members = Object.entries(properties).map(([name, of]) => [name, primitive(name, of)] as const);
  if (!isWhole || members.some(([name, of]) => of === null && required.includes(name))) return null;
  const shown = members.flatMap(([name, of]) => (of === null ? [] : [[name, of] as const]));
  return {
    message: text,
    requestedSchema: {
      type: "object",
      properties: Object.fromEntries(shown),
      required: required.filter((name) => name in properties),
    },
  };
}

/** A member of a form: only text, numbers, booleans and choices; null for others. */
function primitive(
  name: string,
  { type, enum: values, default: usual, minLength, maxLength }: MemberSchema,
): Member | null {
  if (type !== "string" && type !== "boolean" && type !== "integer" && type !== "number") return null;
  const facts = { enum: values, default: usual, minLength, maxLength };
  const more = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
  return { type, title: name.replaceAll("_", " "), ...more } as Member;
}

/** Whether the input of a form decided the wait. */
export type Decided = "decided" | "not decided";

/**
 * Applies the response to a form. The person declines or closes the form: nothing is decided. The task must
 * still wait for this event, so that an answer to an earlier question is not sent.
 *
 * @throws Failure for an action that no form showed whole.
 */
export async function applyResponse(
  client: Client,
  taskId: string,
  waiting: Waiting,
  response: unknown,
): Promise<Decided> {
  const { action, content } = isObject(response) ? response : {};
  if (action !== "accept" || !isObject(content)) return "not decided";
  if (!isQuestion(waiting)) {
    checkShown(waiting);
    const decision = { task_id: taskId, event_id: waiting.waiting_for_event_id, input: content };
    return (await client.tasks.confirmAction(decision)).confirmed ? "decided" : "not decided";
  }
  const text = answerIn(content);
  if (text === "") throw invalidArgument("answer", "the form has neither a choice nor an answer");
  await client.tasks.sendMessage({ task_id: taskId, message: { content: text } });
  return "decided";
}

/** The chosen options and the text of an answer, in one text; empty for none. */
export const answerIn = ({ choice, answer }: JsonObject): string =>
  [choice, answer]
    .flat()
    .filter((text) => typeof text === "string" && text.trim() !== "")
    .join(", ");
