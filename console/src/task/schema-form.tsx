import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { words } from "../words.ts";

const text = words(
  {
    always_allow: "Always allow this in this task",
    global_allow: "Always allow deployments in this task",
    save_draft: "Save as a draft instead of sending",
    secrets: "Secrets",
    addRow: "Add a row",
    lines: "One entry per line",
  },
  {
    always_allow: "In dieser Aufgabe immer erlauben",
    global_allow: "Veröffentlichungen in dieser Aufgabe immer erlauben",
    save_draft: "Als Entwurf speichern statt senden",
    secrets: "Geheimnisse",
    addRow: "Zeile hinzufügen",
    lines: "Ein Eintrag je Zeile",
  },
);

/** The subset of JSON Schema that the server sends for approvals (spec/api.md 9.3). */
export interface Schema {
  readonly type?: string;
  readonly enum?: readonly JsonValue[];
  readonly default?: JsonValue;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

/** Members that the buttons of a card decide. */
const decisive = ["accept", "action"];

/** The members of a schema that a person fills in. */
export const fieldsOf = (schema: Schema): readonly (readonly [name: string, field: Schema])[] =>
  Object.entries(schema.properties ?? {}).filter(([name]) => !decisive.includes(name));

/** The first values of a form. */
export const initialValues = (schema: Schema): JsonObject =>
  Object.fromEntries(fieldsOf(schema).flatMap(([name, field]) => (field.default === undefined ? [] : [[name, field.default]])));

/** The words of a member: a known text, or its name in words. */
export const labelOf = (name: string): string =>
  (text as Readonly<Record<string, string>>)[name] ??
  name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .replace(/^./, (first) => first.toUpperCase());

interface FormProps {
  readonly schema: Schema;
  readonly values: JsonObject;
  readonly onChange: (values: JsonObject) => void;
}

/** The fields of a schema. */
export function SchemaForm({ schema, values, onChange }: FormProps) {
  return fieldsOf(schema).map(([name, field]) => (
    <Field key={name} name={name} field={field} value={values[name]} onChange={(value) => onChange({ ...values, [name]: value })} />
  ));
}

interface FieldProps {
  readonly name: string;
  readonly field: Schema;
  readonly value: JsonValue | undefined;
  readonly onChange: (value: JsonValue) => void;
}

function Field({ name, field, value, onChange }: FieldProps) {
  const label = labelOf(name);
  if (field.type === "boolean")
    return (
      <label className="check">
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
        {label}
      </label>
    );
  if (field.type === "array" && field.items?.type === "object") return <PairsField label={label} value={value} onChange={onChange} />;
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: each branch is a control
    <label className="field">
      <span>{label}</span>
      {field.enum ? (
        <select value={String(value ?? "")} onChange={(event) => onChange(event.target.value)}>
          {field.enum.map((option) => (
            <option key={String(option)} value={String(option)}>
              {labelOf(String(option))}
            </option>
          ))}
        </select>
      ) : field.type === "array" ? (
        <textarea
          aria-description={text.lines}
          value={Array.isArray(value) ? value.join("\n") : ""}
          onChange={(event) => onChange(linesOf(event.target.value, field.items?.type))}
        />
      ) : (
        <input value={String(value ?? "")} onChange={(event) => onChange(event.target.value)} />
      )}
    </label>
  );
}

function linesOf(typed: string, type: string | undefined): JsonValue {
  const lines = typed.split("\n").filter((line) => line.trim() !== "");
  return type === "integer" || type === "number" ? lines.map(Number).filter(Number.isFinite) : lines;
}

/** Rows of a name and a value; values are secrets and are not shown. */
function PairsField({ label, value, onChange }: Pick<FieldProps, "value" | "onChange"> & { label: string }) {
  const rows = (Array.isArray(value) && value.length > 0 ? value : [{ key: "", value: "" }]) as { key: string; value: string }[];
  const change = (index: number, part: Partial<{ key: string; value: string }>): void =>
    onChange(rows.map((row, at) => (at === index ? { ...row, ...part } : row)));
  return (
    <fieldset className="stack tight">
      <legend className="legend">{label}</legend>
      {rows.map((row, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are only added at the end
        <div key={index} className="actions">
          <input
            className="input"
            aria-label={`${label}: key ${index + 1}`}
            value={row.key}
            onChange={(event) => change(index, { key: event.target.value })}
          />
          <input
            className="input"
            type="password"
            autoComplete="off"
            aria-label={`${label}: value ${index + 1}`}
            value={row.value}
            onChange={(event) => change(index, { value: event.target.value })}
          />
        </div>
      ))}
      <button type="button" className="button" onClick={() => onChange([...rows, { key: "", value: "" }])}>
        {text.addRow}
      </button>
    </fieldset>
  );
}
