import { useId } from "react";
import { Failure } from "#core/failure.ts";
import { isObject, type JsonObject } from "#core/json.ts";
import { checkSchema } from "#core/structured-output/structured-output.ts";
import { words } from "../words.ts";

const text = words(
  {
    label: "Schema of the result",
    hint: 'JSON Schema. Each object needs "additionalProperties": false, and "required" with all of its properties.',
    example: "Insert an example",
    notJson: "This is not JSON.",
    notObject: "A schema is a JSON object.",
    place: "At",
    good: (names: string) => `Valid. The result has ${names}.`,
    and: "and",
  },
  {
    label: "Schema des Ergebnisses",
    hint: 'JSON Schema. Jedes Objekt braucht "additionalProperties": false und "required" mit allen seinen Eigenschaften.',
    example: "Beispiel einfügen",
    notJson: "Das ist kein JSON.",
    notObject: "Ein Schema ist ein JSON-Objekt.",
    place: "Bei",
    good: (names: string) => `Gültig. Das Ergebnis hat ${names}.`,
    and: "und",
  },
);

const example = {
  type: "object",
  properties: {
    title: { type: "string", description: "One line" },
    price: { type: "number" },
    tags: { type: "array", items: { type: "string" } },
  },
  required: ["title", "price", "tags"],
  additionalProperties: false,
};

/** A typed schema: empty, valid, or with the rule that it breaks and the place. */
export type TypedSchema =
  | { readonly kind: "none" }
  | { readonly kind: "valid"; readonly schema: JsonObject }
  | { readonly kind: "invalid"; readonly fault: string };

const refusedField = "structured_output_schema: ";

/** Checks with the rules of the server what is typed (spec/api.md 9.5). */
export function readTyped(typed: string): TypedSchema {
  if (typed.trim() === "") return { kind: "none" };
  let schema: unknown;
  try {
    schema = JSON.parse(typed);
  } catch (thrown) {
    return { kind: "invalid", fault: `${text.notJson} ${thrown instanceof Error ? thrown.message : ""}` };
  }
  if (!isObject(schema)) return { kind: "invalid", fault: text.notObject };
  try {
    checkSchema(schema);
    return { kind: "valid", schema };
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    return { kind: "invalid", fault: faultOf(thrown.message.replace(refusedField, "")) };
  }
}

/** `.items.price: must have …` as `At .items.price: must have …`. */
const faultOf = (message: string): string => (message.startsWith(".") ? `${text.place} ${message}` : message);

/** A schema of structured output, checked as it is typed. */
export function SchemaField({ typed, onTyped }: { typed: string; onTyped: (typed: string) => void }) {
  const noteId = useId();
  const read = readTyped(typed);
  return (
    <div className="stack tight">
      <label className="field">
        <span>{text.label}</span>
        <textarea
          rows={8}
          spellCheck={false}
          className="code"
          value={typed}
          aria-invalid={read.kind === "invalid"}
          aria-describedby={noteId}
          onChange={({ target }) => onTyped(target.value)}
        />
      </label>
      <small id={noteId} role="status" className={read.kind === "invalid" ? "fault" : ""}>
        {noteOf(read)}
      </small>
      {read.kind === "none" && (
        <p>
          <button type="button" className="button" onClick={() => onTyped(JSON.stringify(example, null, 2))}>
            {text.example}
          </button>
        </p>
      )}
    </div>
  );
}

function noteOf(read: TypedSchema): string {
  if (read.kind === "invalid") return read.fault;
  if (read.kind === "none") return text.hint;
  const { properties } = read.schema;
  return text.good(Object.keys(isObject(properties) ? properties : {}).join(", "));
}
