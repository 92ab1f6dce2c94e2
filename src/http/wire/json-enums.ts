import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { invalidArgument } from "../../core/failure.ts";
import { keyStep } from "../../pipeline/mistakes.ts";
import { acceptedValues } from "../../pipeline/validate.ts";

/** A field whose value can have words of enums: an enum, or a message with one. */
interface Worded {
  readonly field: DescField;
  /** The words of an enum. */
  readonly words: ReadonlySet<string> | undefined;
}

/** The worded fields of a message, by the names that protobuf JSON has for them. */
type Table = ReadonlyMap<string, Worded>;

const tables = new Map<DescMessage, Table>();
/** Deeper JSON is refused elsewhere (spec/decisions.md 21). */
const depthMax = 100;

/**
 * Refuses a word that its enum does not have in the protobuf JSON of a request. The library drops it with the unknown members, so that a filter with a
 * typing error would be no filter. Workers are exempt: newer ones may have words that this release does not know.
 *
 * @throws Failure `invalid_argument` with the accepted words.
 */
export function checkEnumWords(desc: DescMessage, json: unknown, path = "", depth = 0): void {
  const table = tableOf(desc);
  if (table.size === 0 || depth > depthMax || typeof json !== "object" || json === null) return;
  for (const [name, value] of Object.entries(json)) {
    const worded = table.get(name);
    if (worded === undefined) continue;
    for (const [at, one] of valuesOf(worded.field, value, path === "" ? worded.field.name : `${path}.${worded.field.name}`)) {
      if (worded.field.message) checkEnumWords(worded.field.message, one, at, depth + 1);
      else if (typeof one === "string" && !worded.words?.has(one))
        throw invalidArgument(
          at,
          `must be one of ${acceptedValues(worded.field)
            .map((each) => each.name)
            .join(", ")}`,
        );
    }
  }
}

/** The single values of a field, with their paths. */
function valuesOf({ fieldKind }: DescField, value: unknown, path: string): readonly (readonly [path: string, value: unknown])[] {
  if (fieldKind === "list") return Array.isArray(value) ? value.map((one, index) => [`${path}[${index}]`, one]) : [];
  if (fieldKind === "map") return Object.entries(Object(value)).map(([key, one]) => [path + keyStep(key), one]);
  return [[path, value]];
}

function tableOf(desc: DescMessage): Table {
  const known = tables.get(desc);
  if (known) return known;
  const table = new Map<string, Worded>();
  // Before its fields are read: a type may contain itself.
  tables.set(desc, table);
  for (const field of desc.fields) {
    if (!hasWords(desc, field, new Set())) continue;
    const worded = { field, words: field.enum && wordsOf(field.enum) };
    for (const name of [field.name, field.jsonName, field.localName]) table.set(name, worded);
  }
  return table;
}

const wordsOf = ({ values }: DescEnum): ReadonlySet<string> => new Set(values.map(({ name }) => name));

/** Whether a value of a field can have a word. The JSON of Google's types is not their fields. */
function hasWords({ typeName }: DescMessage, field: DescField, seen: Set<DescMessage>): boolean {
  if (/^(google\.protobuf|worker\.v1)\./.test(typeName)) return false;
  const { message } = field;
  if (message === undefined || seen.has(message)) return field.enum !== undefined;
  seen.add(message);
  return message.fields.some((each) => hasWords(message, each, seen));
}
