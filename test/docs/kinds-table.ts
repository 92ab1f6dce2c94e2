import { decide, decidesLaterActions } from "../../src/core/actions/action.ts";
import { isQuestion, type KindName, kindOf, kinds } from "../../src/core/actions/kind.ts";
import type { JsonObject } from "../../src/core/json.ts";

/** The used part of a kind's JSON Schema. */
interface Schema {
  readonly type: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** All kinds of confirmations, with the members of their input, as a table in Markdown. */
export function kindsTable(): string {
  const rows = Object.keys(kinds)
    // The keys of the table are the kinds.
    .map((kind) => kind as KindName)
    .filter((kind) => !isQuestion(kind))
    .flatMap((kind) =>
      Object.entries(kindOf(kind).inputs).map(([variant, schema]) => rowOf(kind, variant, schema)),
    );
  const head = [
    "Kind",
    "Variant",
    "`tool` of its events",
    "`input`",
    "Refuses",
    "Allows for the rest of the task",
  ];
  return [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`.replaceAll(/ +/g, " "))
    .join("\n");
}

function rowOf(kind: KindName, variant: string, schema: JsonObject): readonly string[] {
  const { tool } = kindOf(kind);
  // The kinds' schemas hold only the members of `Schema`.
  const input = membersOf(schema as unknown as Schema).map(code);
  const refusals = inputs.filter((input) => decides(kind, variant, input) === "cancelled");
  const allows = inputs.filter(
    (input) => decides(kind, variant, input) === "accepted" && decidesLaterActions(kind, input),
  );
  return [
    code(kind),
    variant && code(variant),
    code(tool ?? ""),
    input.join(", "),
    refusals.map(shown).join(),
    allows.map(shown).join(),
  ];
}

const code = (text: string): string => `\`${text}\``;
const shown = (input: JsonObject): string =>
  Object.entries(input)
    .map(([name, value]) => code(`${name}: ${value}`))
    .join(", ");

/** Inputs that refuse, or allow permanently, where a kind has such an input. */
const inputs: readonly JsonObject[] = [
  { accept: false },
  { action: "skip" },
  { action: "reject" },
  { action: "do_not_show_again" },
  { accept: true, always_allow: true },
  { accept: true, global_allow: true },
];

/** The decision of an input; nothing for an invalid one. */
function decides(kind: KindName, variant: string, input: JsonObject): string {
  try {
    return decide({ kind, variant }, input);
  } catch {
    return "";
  }
}

const membersOf = ({ properties = {}, required = [] }: Schema): readonly string[] =>
  Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? "" : "?"}: ${typeOf(schema)}`,
  );

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.join(" or ");
  if (schema.items) return `${typeOf(schema.items)}[]`;
  return schema.properties ? `{ ${membersOf(schema).join(", ")} }` : schema.type;
}
