import { invalidArgument, notFound } from "../../core/failure.ts";
import type { Conversation } from "../../gen/proto/task/v2/task_service_pb.ts";
import type { Invoke } from "../v1/route.ts";
import type { InputMessage, Item } from "./input.ts";
import type { Form, Message } from "./items.ts";
import { openaiOutput } from "./openai-form.ts";
import { readConversation } from "./response.ts";

/** The most tasks that the items of one request may be from. */
const tasksMax = 100;

/**
 * Replaces references by the messages of the assistant that they name; an item that adds nothing is null. The
 * conversation that a request continues has its items already.
 *
 * @throws Failure `invalid_argument` in the hosted form, which has messages only; `not_found` for an item
 * that the caller cannot read.
 */
export async function resolveItems(
  ask: Invoke,
  items: readonly Item[],
  { form, continues }: { form: Form; continues: string | undefined },
): Promise<readonly (InputMessage | null)[]> {
  const texts = new Map<string, Promise<ReadonlyMap<string, string>>>();
  const resolve = async (item: Item, at: number): Promise<InputMessage | null> => {
    if (item.type !== "item_reference" && item.type !== "reasoning") return item;
    if (form === "platform") throw invalidArgument(`input[${at}].type`, "must be message");
    if (item.type === "reasoning") return null;
    const path = `input[${at}].id`;
    const [, taskId = ""] = /^msg_([A-Za-z0-9]+)_\d+_\d+/.exec(item.id) ?? [];
    if (taskId === "") throw notFound("item", path);
    if (taskId === continues) return null;
    const known = texts.get(taskId) ?? readTexts(ask, taskId);
    texts.set(taskId, known);
    if (texts.size > tasksMax)
      throw invalidArgument(
        "input",
        `must have items of at most ${tasksMax} responses; use previous_response_id`,
      );
    // An item that was sent behind one that ended as `incomplete` has one more number.
    const text = (await known.catch(() => new Map<string, string>())).get(item.id.split("_", 4).join("_"));
    if (text === undefined) throw notFound("item", path);
    return { role: "assistant", content: [{ type: "output_text", text }] };
  };
  return Promise.all(items.map(resolve));
}

/** The texts of the assistant in a task, by the ids of their items. */
async function readTexts(ask: Invoke, taskId: string): Promise<ReadonlyMap<string, string>> {
  const { messages }: Conversation = await readConversation(ask, taskId);
  const output = openaiOutput(taskId);
  const items: readonly Message[] = messages.flatMap((event) => output.add(event) ?? []);
  return new Map(
    items.map(({ id, content }) => [
      id,
      content.flatMap((part) => (part.type === "output_text" ? [part.text] : [])).join(""),
    ]),
  );
}
