import type { AssistantMessage, Client, JsonObject, StatusDetail, TaskHandle } from "../../packages/client/src/index.ts";
import { ask } from "../frame/ask.ts";
import type { CliContext } from "../frame/context.ts";
import { CommandError } from "../frame/failures.ts";
import { oneLine } from "../frame/text.ts";

const questionKinds: ReadonlySet<string> = new Set(["messageAskUser", "cascadeAskUser"]);
export const isQuestion = ({ waiting_for_event_type: kind }: StatusDetail): boolean => questionKinds.has(kind);

/** The question that the task waits for, with its options. */
export async function questionOf(task: TaskHandle): Promise<AssistantMessage | undefined> {
  for await (const event of task.events({ order: "desc" }))
    if (event.type === "assistant_message") return event.assistant_message.question_expectation ? event.assistant_message : undefined;
  return undefined;
}

/** Asks the user on the terminal for what the task waits for, and sends it. */
export async function decide(context: CliContext, client: Client, taskId: string, waits: StatusDetail): Promise<void> {
  const task = client.tasks.get(taskId);
  if (isQuestion(waits)) await task.answer(await askQuestion(context, await questionOf(task)));
  else await sendDecision(client, taskId, waits, await askInput(context, waits));
}

/** Sends a decision of any kind; the server checks it. */
export const sendDecision = async (client: Client, task_id: string, waits: StatusDetail, input: JsonObject): Promise<void> =>
  void (await client.call("task.confirmAction", { task_id, event_id: waits.waiting_for_event_id, input }));

/** An answer by the number of an option, by several, or as a free text. */
async function askQuestion(context: CliContext, question: AssistantMessage | undefined): Promise<string | readonly string[]> {
  const { options = [], selection_mode: mode } = question?.question_expectation ?? {};
  for (const [at, option] of options.entries()) context.process.stderr.write(`  ${at + 1}) ${oneLine(option)}\n`);
  const how = mode === "multiple" ? "Numbers or text" : options.length > 0 ? "Number or text" : "Answer";
  for (;;) {
    const typed = (await ask(context, `${how}: `)).trim();
    if (typed !== "") return chosen(typed, options, mode === "multiple");
  }
}

/** The options whose numbers were typed; anything else is the answer itself. */
export function chosen(typed: string, options: readonly string[], isMultiple: boolean): string | readonly string[] {
  const numbers = isMultiple ? typed.split(/[\s,]+/) : [typed];
  const found = numbers.map((number) => (/^\d+$/.test(number) ? options[Number(number) - 1] : undefined));
  const [first] = found;
  if (first === undefined || found.includes(undefined)) return typed;
  return isMultiple ? found.filter((option) => option !== undefined) : first;
}

const propertiesOf = (schema: JsonObject | undefined): readonly (readonly [string, JsonObject])[] => {
  const { properties, required } = schema ?? {};
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  const entries = typeof properties === "object" && properties !== null ? Object.entries(properties as JsonObject) : [];
  return entries.filter(([name]) => needed.includes(name)).map(([name, rule]) => [name, rule as JsonObject]);
};

/** The members that a decision must have, asked one by one. */
async function askInput(context: CliContext, { waiting_description, confirm_input_schema }: StatusDetail): Promise<JsonObject> {
  context.process.stderr.write(`${oneLine(waiting_description)}\n`);
  const input: Record<string, JsonObject[string]> = {};
  for (const [name, rule] of propertiesOf(confirm_input_schema)) input[name] = await askMember(context, name, rule);
  return input;
}

async function askMember(context: CliContext, name: string, rule: JsonObject): Promise<boolean | string> {
  const words = Array.isArray(rule["enum"]) ? rule["enum"].map(String) : [];
  for (;;) {
    if (rule["type"] === "boolean") {
      const typed = (await ask(context, `${name === "accept" ? "Approve" : name}? [y/n] `)).trim().toLowerCase();
      if (/^(y|yes|n|no)$/.test(typed)) return typed.startsWith("y");
    } else if (words.length > 0) {
      const typed = (await ask(context, `${name} (${words.join(", ")}): `)).trim();
      if (words.includes(typed)) return typed;
    } else if (rule["type"] === "string") return await ask(context, `${name}: `);
    else throw new CommandError(`the decision needs ${name}; send it with \`atp task confirm ID --input JSON\``);
  }
}

/** The input of a decision that accepts or rejects, under the name that its kind has for it. */
export function plainInput(waits: StatusDetail, accepts: boolean): JsonObject {
  const found = propertiesOf(waits.confirm_input_schema);
  const rule = found.find(([name]) => name === "accept" || name === "action");
  const words = Array.isArray(rule?.[1]["enum"]) ? rule[1]["enum"].map(String) : [];
  if (rule?.[0] === "accept" && found.length === 1) return { accept: accepts };
  const word = accepts ? "accept" : "reject";
  if (rule?.[0] === "action" && words.includes(word) && found.length === 1) return { action: word };
  throw new CommandError(
    `${waits.waiting_for_event_type} needs more than yes or no: give --input JSON for the schema ${JSON.stringify(waits.confirm_input_schema ?? {})}`,
  );
}
