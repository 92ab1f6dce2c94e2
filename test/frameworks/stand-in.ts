import type { ModelRequest, Reply, Script } from "../support/model/script.ts";

/** What holds an answer of the stand-in, by its name in `Stages`. */
export interface Stages {
  /** Before the second call of the model, which requests the deletion. */
  readonly request?: Promise<unknown>;
  /** Before the call after the deletion. */
  readonly end?: Promise<unknown>;
  /** Within the last text. */
  readonly text?: Promise<unknown>;
}

export const doneText = ["All done: the table old ", "is empty."];
export const keptText = "I kept the table old.";

/**
 * A model that tidies up: it writes a file, requests to delete a table, and answers. To `Which one?` it asks
 * a question. It decides by the results of tools in its conversation, in the form of any framework.
 */
export const tidyModel =
  ({ request, end, text }: Stages = {}): Script =>
  ({ nth, messages, tools }: ModelRequest): Reply => {
    const said = messages.map((message) => message.text);
    const has = (words: string) => said.some((each) => each.includes(words));
    const call = (name: string, input: Record<string, string>) => ({
      calls: [{ name: tools.find((tool) => tool.endsWith(name)) ?? name, input, id: `call_${nth}` }],
    });
    if (has("Which one?"))
      return has("the blue one")
        ? { text: "You chose the blue one." }
        : call("ask_user", { question: "Red or blue?" });
    if (!has('"written":"report.txt"')) return call("write_file", { name: "report.txt", text: "3 rows" });
    if (has("refused")) return { text: keptText };
    if (!has('"deleted":"old"'))
      return { ...call("delete_records", { table: "old" }), ...(request && { wait: request }) };
    return { text: doneText, ...(end && { wait: end }), ...(text && { hold: text }) };
  };
