import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { invalidArgument } from "../../core/failure.ts";
import { ContentPartType } from "../../gen/proto/task/v2/message_pb.ts";
import { keyStep } from "../../pipeline/mistakes.ts";
import { acceptedValues } from "../../pipeline/validate.ts";
import { wireOptions } from "../v2/wire.ts";

/** A field whose value can have words of enums: an enum, or a message with one. */
interface Worded {
  readonly field: DescField;
  readonly words: ReadonlySet<string> | undefined;
}

/** The worded fields of a message, by the names that protobuf JSON has for them. */
type Table = ReadonlyMap<string, Worded>;

const tables = new Map<DescMessage, Table>();
/** Deeper JSON is refused elsewhere (spec/decisions.md 21). */
const depthMax = 100;

/**
 * Prepares the protobuf JSON of a request for the library. A text in the place of message parts becomes one
 * text part, as in v2. A word that its enum does not have is refused: the library drops it with the unknown
 * members, so that a filter with a typing error would be no filter. Workers are exempt: newer ones may have
 * words that this release does not know.
 *
 * @returns whether the JSON was changed.
 * @throws Failure `invalid_argument` with the accepted words.
 */
export function prepareJson(desc: DescMessage, json: unknown, path = "", depth = 0): boolean {
  const table = tableOf(desc);
  if (table.size === 0 || depth > depthMax || typeof json !== "object" || json === null) return false;
  let isChanged = false;
  for (const [name, value] of Object.entries(json)) {
    const worded = table.get(name);
    if (worded === undefined) continue;
    if (typeof value === "string" && wireOptions(worded.field).textOrParts) {
      Object.assign(json, { [name]: [{ type: ContentPartType.TEXT, text: value }] });
      isChanged = true;
    }
    for (const [at, one] of valuesOf(
      worded.field,
      value,
      path === "" ? worded.field.name : `${path}.${worded.field.name}`,
    )) {
      if (worded.field.message)
        isChanged = prepareJson(worded.field.message, one, at, depth + 1) || isChanged;
      else if (typeof one === "string" && !worded.words?.has(one))
        throw invalidArgument(
          at,
          `must be one of ${acceptedValues(worded.field)
            .map((each) => each.name)
            .join(", ")}`,
        );
    }
  }
  return isChanged;
}

/** The single values of a field, with their paths. */
function valuesOf(
  { fieldKind }: DescField,
  value: unknown,
  path: string,
): readonly (readonly [path: string, value: unknown])[] {
  if (fieldKind === "list")
    return Array.isArray(value) ? value.map((one, index) => [`${path}[${index}]`, one]) : [];
  if (fieldKind === "map")
    return Object.entries(Object(value)).map(([key, one]) => [path + keyStep(key), one]);
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
