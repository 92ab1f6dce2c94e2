import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import { dangerousScope } from "../../core/accounts/caller.ts";
import { actText, roomMax } from "../../core/actions/act.ts";
import { visible } from "../../core/actions/visible.ts";
import type { Rights } from "../../pipeline/access.ts";
import { type Json, type Operations, Refusal, type TaskEvent } from "./operations.ts";
import { detailsOf, isQuestion, type Waiting } from "./turn.ts";

/** A form for the user of the client (`elicitation/create`). */
export type Form = Pick<ElicitRequestFormParams, "message" | "requestedSchema">;

type Member = Form["requestedSchema"]["properties"][string];

/**
 * What a door shows of an action: all of it; or, when it has too many characters, why the door offers no decision, and where a
 * person decides.
 */
export function showAct(waiting: Waiting): { readonly text: string; readonly isWhole: boolean } {
  const text = actText(waiting);
  if (text !== null && text.length <= roomMax) return { text, isWhole: true };
  const size =
    text === null ? "The server does not say what it does" : `It has ${text.length} characters; at most ${roomMax} are shown here`;
  return { text: `The agent asks for approval (${visible(waiting.kind)}). ${size}. Decide it at ${waiting.taskUrl}`, isWhole: false };
}

/** Whether a credential can decide about actions: an app can only if its user has granted that (spec/decisions.md 130). */
export const mayDecide = ({ credential }: Rights): boolean =>
  credential.kind === "token" ? credential.scopes.includes(dangerousScope) : credential.kind === "key";

/** @throws Refusal for an action that a door cannot show whole: a person decides there only what was shown. */
export function checkShown(waiting: Waiting): void {
  const { text, isWhole } = showAct(waiting);
  if (!isWhole) throw new Refusal("failed_precondition", text);
}

/**
 * The form for a wait: a question with its options, or an action with all its rows. Null for an action that a form cannot
 * show whole, or whose decision has members that a form cannot have.
 */
export async function formOf(operations: Operations, taskId: string, waiting: Waiting, signal: AbortSignal): Promise<Form | null> {
  if (!isQuestion(waiting)) return approvalForm(waiting);
  const form = questionForm(waiting, await readEvent(operations, taskId, waiting.eventId, signal));
  return form.message.length > roomMax ? null : form;
}

/** An event of a task by its id; undefined when the task has none. @throws Refusal */
export async function readEvent(
  operations: Operations,
  taskId: string,
  eventId: string,
  signal: AbortSignal,
): Promise<TaskEvent | undefined> {
  const page = { task_id: taskId, start_event_id: eventId, limit: 1, verbose: true };
  const { messages } = await operations.call("task.listMessages", page, signal);
  const [event] = messages as readonly TaskEvent[];
  return event?.id === eventId ? event : undefined;
}

function questionForm({ description }: Waiting, event: TaskEvent | undefined): Form {
  const { content, question_expectation: expectation } = event ? detailsOf(event) : {};
  const { options, selection_mode: mode } = (expectation ?? {}) as Json;
  const choices = Array.isArray(options) ? options.map(String) : [];
  const answer: Member = { type: "string", title: choices.length > 0 ? "Another answer" : "Answer" };
  const message = visible(String(content ?? description));
  if (choices.length === 0) return { message, requestedSchema: { type: "object", properties: { answer }, required: ["answer"] } };
  return { message, requestedSchema: { type: "object", properties: { choice: choiceOf(choices, mode === "multiple"), answer } } };
}

/** The options; if one has hidden characters, with titles that show them. */
function choiceOf(choices: readonly string[], isMultiple: boolean): Member {
  const titled = choices.map((option) => ({ const: option, title: visible(option) }));
  if (titled.every(({ const: option, title }) => option === title)) {
    const options = { type: "string" as const, enum: [...choices] };
    return isMultiple ? { type: "array", title: "Choices", items: options } : { ...options, title: "Choice" };
  }
  return isMultiple ? { type: "array", title: "Choices", items: { anyOf: titled } } : { type: "string", title: "Choice", oneOf: titled };
}

function approvalForm(waiting: Waiting): Form | null {
  const { text: message, isWhole } = showAct(waiting);
  const { properties = {}, required = [] } = (waiting.schema ?? {}) as Schema;
  const members = Object.entries(properties).map(([name, of]) => [name, primitive(name, of)] as const);
  if (!isWhole || members.some(([name, of]) => of === null && required.includes(name))) return null;
  const shown = members.flatMap(([name, of]) => (of === null ? [] : [[name, of] as const]));
  return {
    message,
    requestedSchema: { type: "object", properties: Object.fromEntries(shown), required: required.filter((name) => name in properties) },
  };
}

interface Schema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

/** A member of a form: only text, numbers, booleans and choices; null for others. */
function primitive(name: string, { type, enum: values, default: usual, minLength, maxLength }: Json): Member | null {
  if (type !== "string" && type !== "boolean" && type !== "integer" && type !== "number") return null;
  const facts = { enum: values, default: usual, minLength, maxLength };
  const more = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
  // The platform writes these schemas: a value has the type that it says.
  return { type, title: name.replaceAll("_", " "), ...more } as Member;
}

/** Whether the input of a form decided the wait. */
export type Decided = "decided" | "not decided";

/**
 * Applies the response to a form. The person declines or closes the form: nothing is decided. The task must still wait
 * for this event, so that an answer to an earlier question is not sent.
 *
 * @throws Refusal for an action that no form showed whole.
 */
export async function applyResponse(
  operations: Operations,
  taskId: string,
  waiting: Waiting,
  response: unknown,
  signal: AbortSignal,
): Promise<Decided> {
  const { action, content } = (typeof response === "object" && response !== null ? response : {}) as Json;
  if (action !== "accept" || typeof content !== "object" || content === null) return "not decided";
  if (!isQuestion(waiting)) {
    checkShown(waiting);
    const { confirmed } = await operations.call(
      "task.confirmAction",
      { task_id: taskId, event_id: waiting.eventId, input: content },
      signal,
    );
    return confirmed === true ? "decided" : "not decided";
  }
  const text = answerIn(content as Json);
  if (text === "") throw new Refusal("invalid_argument", "the form has neither a choice nor an answer", { field: "answer" });
  await operations.call("task.sendMessage", { task_id: taskId, message: { content: text } }, signal);
  return "decided";
}

const answerIn = ({ choice, answer }: Json): string =>
  [choice, answer]
    .flat()
    .filter((text): text is string => typeof text === "string" && text.trim() !== "")
    .join(", ");
