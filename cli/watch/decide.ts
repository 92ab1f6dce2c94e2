import {
  type AssistantMessage,
  type Client,
  isQuestion,
  type JsonObject,
  type StatusDetail,
  type Task,
  type TaskHandle,
} from "../../packages/client/src/index.ts";
import { ask } from "../frame/ask.ts";
import type { CliContext } from "../frame/context.ts";
import { CommandError } from "../frame/failures.ts";
import { oneLine } from "../frame/text.ts";

/** The question that the task waits for, with its options. */
export async function questionOf(task: TaskHandle): Promise<AssistantMessage | undefined> {
  for await (const event of task.events({ order: "desc" }))
    if (event.type === "assistant_message")
      return event.assistant_message.question_expectation ? event.assistant_message : undefined;
  return undefined;
}

/**
 * Asks the user on the terminal for what the task waits for, and sends it. @param act the text of an action,
 * of a question empty.
 */
export async function decide(
  context: CliContext,
  client: Client,
  { id }: Task,
  waits: StatusDetail,
  act: string,
): Promise<void> {
  const task = client.tasks.get(id);
  if (isQuestion(waits)) return await task.answer(await askQuestion(context, await questionOf(task)));
  context.process.stderr.write(`${act}\n\n`);
  if (await sendDecision(client, id, waits, await askInput(context, waits))) return;
  // Some kinds of action cannot be refused, only dropped by a message (spec/api.md 9.3).
  const instead = (
    await ask(context, "The action does not run, but the task waits. Say what to do instead: ")
  ).trim();
  if (instead !== "") await task.send(instead);
}

/** Sends a decision of any kind, which the server checks; false when it decided nothing. */
export async function sendDecision(
  client: Client,
  task_id: string,
  waits: StatusDetail,
  input: JsonObject,
): Promise<boolean> {
  const { confirmed } = await client.call("task.confirmAction", {
    task_id,
    event_id: waits.waiting_for_event_id,
    input,
  });
  return confirmed;
}

/** An answer by the number of an option, by several, or as a free text. */
async function askQuestion(
  context: CliContext,
  question: AssistantMessage | undefined,
): Promise<string | readonly string[]> {
  const { options = [], selection_mode: selectionMode } = question?.question_expectation ?? {};
  for (const [at, option] of options.entries())
    context.process.stderr.write(`  ${at + 1}) ${oneLine(option)}\n`);
  const how =
    selectionMode === "multiple" ? "Numbers or text" : options.length > 0 ? "Number or text" : "Answer";
  for (;;) {
    const typed = (await ask(context, `${how}: `)).trim();
    if (typed !== "") return chosen(typed, options, selectionMode === "multiple");
  }
}

/** The options whose numbers were typed; anything else is the answer itself. */
export function chosen(
  typed: string,
  options: readonly string[],
  isMultiple: boolean,
): string | readonly string[] {
  const numbers = isMultiple ? typed.split(/[\s,]+/) : [typed];
  const found = numbers.map((number) => (/^\d+$/.test(number) ? options[Number(number) - 1] : undefined));
  const [first] = found;
  if (first === undefined || found.includes(undefined)) return typed;
  return isMultiple ? found.filter((option) => option !== undefined) : first;
}

/** The members of a decision, the required ones first. */
function membersOf(schema: JsonObject | undefined): readonly Member[] {
  const { properties, required } = schema ?? {};
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const entries = Object.entries((properties ?? {}) as Record<string, JsonObject>);
  const members = entries.map(([name, rule]) => ({ name, rule, isRequired: needed.includes(name) }));
  return members.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

interface Member {
  readonly name: string;
  readonly rule: JsonObject;
  readonly isRequired: boolean;
}

type Value = JsonObject[string];

/** The members of a decision, asked one by one; none after a refusal. */
async function askInput(
  context: CliContext,
  { confirm_input_schema: confirmInputSchema, tool }: StatusDetail,
): Promise<JsonObject> {
  const input: Record<string, Value> = {};
  for (const member of membersOf(confirmInputSchema)) {
    const value =
      member.name === "secrets"
        ? await askSecrets(context, tool?.params?.["keys"])
        : await askMember(context, member);
    if (value !== undefined) input[member.name] = value;
    if (value === false && member.name === "accept") break;
    if (member.name === "action" && (value === "skip" || value === "reject")) break;
  }
  return input;
}

/**
 * A value as it is typed; undefined for an optional member without one. @throws CommandError for a kind of
 * member that is unknown
 */
async function askMember(
  context: CliContext,
  { name, rule, isRequired }: Member,
): Promise<Value | undefined> {
  const read = readerOf(name, rule);
  const question = name === "accept" ? "Approve?" : oneLine(name);
  for (;;) {
    const typed = (await ask(context, `${question}${read.hint}${isRequired ? "" : ", or Enter"}: `)).trim();
    if (typed === "" && !isRequired) return undefined;
    const value = read.value(typed);
    if (value !== undefined) return value;
  }
}

interface Reader {
  readonly hint: string;
  /** Undefined for a text that is not valid: it is asked again. */
  readonly value: (typed: string) => Value | undefined;
}

function readerOf(name: string, { type, enum: words, items }: JsonObject): Reader {
  const options = Array.isArray(words) ? words.map(String) : [];
  if (type === "boolean")
    return {
      hint: " [y/n]",
      value: (typed) => (/^(y|yes|n|no)$/i.test(typed) ? /^y/i.test(typed) : undefined),
    };
  if (options.length > 0)
    return { hint: ` (${options.join(", ")})`, value: (typed) => options.find((option) => option === typed) };
  if (type === "string") return { hint: "", value: (typed) => typed };
  const { type: itemType } = (items ?? {}) as JsonObject;
  const isNumbers = itemType === "integer";
  if (type !== "array" || !(isNumbers || itemType === "string"))
    throw new CommandError(
      `the decision needs ${oneLine(name)}; send it with \`atp task confirm ID --input JSON\``,
    );
  return {
    hint: isNumbers ? " (numbers from 0)" : " (separated by blanks)",
    value(typed) {
      const parts = typed.split(/[\s,]+/).filter((part) => part !== "");
      if (!isNumbers) return parts;
      return parts.every((part) => /^\d+$/.test(part)) ? parts.map(Number) : undefined;
    },
  };
}

/**
 * The secrets that the tool named, which are not shown while they are typed. Others are asked by name until
 * none is typed.
 */
async function askSecrets(context: CliContext, named: Value | undefined): Promise<Value> {
  const keys = Array.isArray(named) ? named.filter((key) => typeof key === "string") : [];
  const secrets: { key: string; value: string }[] = [];
  for (const key of keys) secrets.push({ key, value: await ask(context, `${oneLine(key)}: `, true) });
  if (keys.length > 0) return secrets;
  for (;;) {
    const key = (await ask(context, "Name of a secret, or Enter: ")).trim();
    if (key === "") return secrets;
    secrets.push({ key, value: await ask(context, `${oneLine(key)}: `, true) });
  }
}

/**
 * The input of a decision that accepts this action and later ones of its kind in the task. @throws CommandError
 * for a kind that has none.
 */
export function inputForAlways(waits: StatusDetail): JsonObject {
  for (const { name, rule } of membersOf(waits.confirm_input_schema)) {
    const words = rule["enum"];
    if (name === "always_allow" || name === "global_allow") return { accept: true, [name]: true };
    if (Array.isArray(words) && words.includes("do_not_show_again")) return { [name]: "do_not_show_again" };
  }
  throw new CommandError(
    `${waits.waiting_for_event_type} is approved each time: give --accept, or set rules with \`atp task update\``,
  );
}

/** The input of a decision that accepts or rejects, under the name that its kind has for it. */
export function plainInput(waits: StatusDetail, accepts: boolean): JsonObject {
  const [member, ...more] = membersOf(waits.confirm_input_schema).filter(({ isRequired }) => isRequired);
  const word = accepts ? "accept" : "reject";
  const words = member?.rule["enum"];
  if (more.length === 0 && member?.name === "accept") return { accept: accepts };
  if (more.length === 0 && member?.name === "action" && Array.isArray(words) && words.includes(word))
    return { action: word };
  throw new CommandError(
    `${waits.waiting_for_event_type} needs more than yes or no: give --input JSON for the schema ${JSON.stringify(waits.confirm_input_schema ?? {})}`,
  );
}
