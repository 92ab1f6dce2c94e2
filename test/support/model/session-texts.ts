import { readFileSync, writeFileSync } from "node:fs";
import { isObject, type Json, type JsonObject } from "../../../src/core/json.ts";

// What the requests of many sessions have in common: the system message and the definitions of tools. They
// are recorded once, in `test/sessions/texts.jsonl`, and each request has their names instead.

const file = new URL("../../sessions/texts.jsonl", import.meta.url);

/** Puts names in the places of texts that sessions have in common. */
export interface SharedTexts {
  /** The request as text: a text that differs in one byte from the recorded one stays as it is. */
  shorten(body: JsonObject): string;
  /** Writes those of a new recording. */
  save(): void;
}

/** @param isNew records them: the first text with a name is that of all sessions. */
export function openTexts(isNew: boolean): SharedTexts {
  const lines = isNew ? [] : readFileSync(file, "utf8").trimEnd().split("\n");
  const known: Record<string, Json> = Object.assign({}, ...lines.map((line) => JSON.parse(line)));
  const nameOf = (name: string, value: Json): Json => {
    if (isNew && !Object.hasOwn(known, name)) known[name] = value;
    return JSON.stringify(known[name]) === JSON.stringify(value) ? `@${name}` : value;
  };
  return {
    shorten(body) {
      const { messages, input, system, tools = [], ...others } = body;
      const api = input ? "responses" : system === undefined ? "openai" : "anthropic";
      const list = ((messages ?? input ?? []) as JsonObject[]).map((message) =>
        message["role"] === "system" ? nameOf(`${api} system`, message) : message,
      );
      const short = (tools as JsonObject[]).map((tool) => {
        const { name } = isObject(tool["function"]) ? tool["function"] : tool;
        return nameOf(`${api} ${String(name)}`, tool);
      });
      // Messages at the end: what was added is at the end too.
      const first = system === undefined ? null : nameOf(`${api} system`, system);
      return JSON.stringify({ ...others, tools: short, system: first, messages: list });
    },
    save() {
      const names = Object.keys(known).toSorted();
      writeFileSync(file, names.map((name) => `${JSON.stringify({ [name]: known[name] })}\n`).join(""));
    },
  };
}
