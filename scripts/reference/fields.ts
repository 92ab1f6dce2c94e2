import type { DescField, DescMessage, DescOneof } from "@bufbuild/protobuf";
import { type LinkOf, rulesOf, typeOf } from "./rules.ts";
import { commentOf } from "./schema.ts";

/** A text for a cell of a Markdown table. */
const cell = (text: string): string => text.replaceAll("|", "\\|");

const described = (field: DescField): string => commentOf(field).join(" ");

/** A row: the field, its type, its rules, and what it is. */
function rowOf(field: DescField, linkOf: LinkOf, withRules: boolean): string {
  const cells = [
    `\`${field.name}\``,
    typeOf(field, linkOf),
    ...(withRules ? [rulesOf(field).join("; ")] : []),
    described(field),
  ];
  return `| ${cells.map(cell).join(" | ")} |`;
}

const fieldsOf = (member: DescField | DescOneof): readonly DescField[] =>
  member.kind === "oneof" ? member.fields : [member];

/** Which fields exclude each other. */
const choices = (message: DescMessage): readonly string[] =>
  message.oneofs.map(
    ({ fields }) => `At most one of ${fields.map(({ name }) => `\`${name}\``).join(", ")} is present.`,
  );

/** The members of a message as a table; `none` where it has no fields. */
export function fieldTable(
  message: DescMessage,
  linkOf: LinkOf,
  { withRules, none }: { withRules: boolean; none: string },
): string {
  if (message.fields.length === 0) return none;
  const head = withRules
    ? ["| Member | Type | Rules | |", "| --- | --- | --- | --- |"]
    : ["| Member | Type | |", "| --- | --- | --- |"];
  const rows = message.members.flatMap(fieldsOf).map((field) => rowOf(field, linkOf, withRules));
  return [[...head, ...rows].join("\n"), ...choices(message)].join("\n\n");
}

/** A type of the schema: what it is, and its members. */
export const objectSection = (message: DescMessage, linkOf: LinkOf): string =>
  [
    `### ${message.name}`,
    ...commentOf(message),
    fieldTable(message, linkOf, { withRules: true, none: "It has no members." }),
  ].join("\n\n");
