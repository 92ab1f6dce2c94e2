import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { FieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { wireOptions } from "../../src/http/v2/wire.ts";
import { acceptedValues, enumValueName } from "../../src/pipeline/validate.ts";
import { commentOf, isRequest, type Union, unionOf } from "../reference/schema.ts";
import { listRules, mapRules, requiredFields, rulesOf, scalarSchema, valueKeywords } from "./rules.ts";
import { defined, described, type Json, orNull, prose } from "./schema.ts";

/** Prefixes of the schemas of packages whose names other packages have too. */
const prefixes: Readonly<Record<string, string>> = {
  "dataexport.v2": "DataExport",
  "observability.v2": "Compliance",
  "settings.v1": "Settings",
  "worker.v1": "Worker",
};

/** Names of values in the schemas of a document: `CreateTaskRequest`, `ComplianceExport`. */
export function schemaName({ typeName, file }: DescMessage | DescEnum): string {
  const prefix = prefixes[file.proto.package] ?? "";
  const name = typeName.slice(file.proto.package.length + 1).replaceAll(".", "");
  return name.startsWith(prefix) ? name : `${prefix}${name}`;
}

/** `user_message` is `UserMessage`. */
const pascal = (word: string): string =>
  word.replaceAll(/(?:^|_)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

const wellKnown: Readonly<Record<string, Json>> = {
  "google.protobuf.Struct": { type: "object", additionalProperties: true },
  "google.protobuf.Value": {},
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.FieldMask": { type: "string" },
  "google.protobuf.Empty": { type: "object" },
};

/** A message within a request has another schema there than within an answer. */
const inputName = (message: DescMessage): string =>
  `${schemaName(message)}${isRequest(message) ? "" : "Input"}`;
const outputName = (message: DescMessage): string =>
  `${schemaName(message)}${isRequest(message) ? "Output" : ""}`;

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/**
 * The schemas of messages and enums in v2's JSON. Each message has one schema as a part of requests and
 * another one in answers.
 */
export interface MessageSchemas {
  /** Refers to a request's schema. */
  request(message: DescMessage): Json;
  /** Refers to an answer's schema: the message's members and those of the envelope. */
  answer(message: DescMessage): Json;
  /** Refers to the schema of a message within an answer. */
  output(message: DescMessage): Json;
  /** The schema of one field of a request. */
  inputField(field: DescField): Json;
  /** Refers to a schema that is not a message's. */
  other(name: string, schema: () => Json): Json;
  /** All schemas that were referred to, by name. */
  all(): Readonly<Record<string, Json>>;
}

/** @param envelope members that every answer has besides those of its message. */
export function messageSchemas(envelope: Readonly<Record<string, Json>>): MessageSchemas {
  const schemas = new Map<string, Json>();
  const owners = new Map<string, string>();

  /** Makes a schema at its first use. A message may contain itself. */
  function refer(name: string, owner: string, make: () => Json): Json {
    const taken = owners.get(name);
    if (taken !== undefined && taken !== owner)
      throw new Error(`${owner} and ${taken} have the same schema name: add a prefix`);
    if (taken === undefined) {
      owners.set(name, owner);
      schemas.set(name, make());
    }
    return refTo(name);
  }

  const input = (message: DescMessage): Json =>
    refer(inputName(message), `${message.typeName} in`, () => inputObject(message));
  const output = (message: DescMessage): Json =>
    refer(outputName(message), `${message.typeName} out`, () => outputObject(message));

  function inputObject(message: DescMessage): Json {
    const required = requiredFields(message);
    const properties = message.fields.map((field) => {
      const schema = inputField(field);
      return [field.name, required.has(field.name) ? schema : orNull(schema)] as const;
    });
    const choices = message.oneofs.map(({ fields }) => fields.map(({ name }) => name));
    const sentences = choices.map(
      (names) => `At most one of ${names.map((name) => `\`${name}\``).join(", ")} is present.`,
    );
    const schema = objectOf(prose([...commentOf(message), ...sentences]), {
      properties: Object.fromEntries(properties),
      required: message.fields.map(({ name }) => name).filter((name) => required.has(name)),
    });
    return choices.length === 0 ? schema : { ...schema, "x-at-most-one": choices };
  }

  function inputField(field: DescField): Json {
    const { aliases, unused } = wireOptions(field);
    const text = prose([...commentOf(field), ...(unused ? ["Accepted without effect."] : [])]);
    return described(
      { ...inputForms(field), ...(aliases.length === 0 ? {} : { "x-aliases": aliases }) },
      text,
    );
  }

  /** The forms that a field accepts (proto/taskplatform/options/v1). */
  function inputForms(field: DescField): Json {
    const { textOrParts, date, emptyIsAbsent } = wireOptions(field);
    const schema = inputValue(field);
    if (textOrParts) return { anyOf: [partText(field), schema] };
    if (date) return { anyOf: [schema, { type: "string", format: "date" }] };
    return emptyIsAbsent ? { anyOf: [schema, { const: "" }] } : schema;
  }

  /** A plain text means a list with one text part, so it has the rules of the text of a part. */
  function partText({ message }: DescField): Json {
    const text = message?.field["text"];
    return { ...(text ? inputValue(text) : {}), type: "string" };
  }

  function inputValue(field: DescField): Json {
    const rules = rulesOf(field);
    if (field.fieldKind === "list") {
      const { keywords, items } = listRules(rules);
      return { type: "array", items: inputElement(field, items), ...keywords };
    }
    if (field.fieldKind === "map") {
      const { keywords, values } = mapRules(rules);
      return { type: "object", additionalProperties: inputElement(field, values), ...keywords };
    }
    return inputElement(field, rules);
  }

  function inputElement(field: DescField, rules: FieldRules | undefined): Json {
    if (field.enum) return acceptedWords(field, field.enum);
    if (field.message) return wellKnown[field.message.typeName] ?? input(field.message);
    return {
      ...(field.scalar === undefined ? {} : scalarSchema(field.scalar)),
      ...(rules ? valueKeywords(rules) : {}),
    };
  }

  /** An enum's words without those that the field refuses. */
  function acceptedWords(field: DescField, desc: DescEnum): Json {
    const words = acceptedValues(field).map(enumValueName);
    return words.length === sentValues(desc).length ? enumSchema(desc) : { type: "string", enum: words };
  }

  const enumSchema = (desc: DescEnum): Json => refer(schemaName(desc), desc.typeName, () => enumObject(desc));

  function answer(message: DescMessage): Json {
    return refer(schemaName(message), `${message.typeName} answer`, () => {
      const { properties, required } = membersOf(message.fields.filter(({ name }) => !(name in envelope)));
      return objectOf(prose(commentOf(message)), {
        properties: { ...envelope, ...properties },
        required: ["ok", "request_id", ...required],
      });
    });
  }

  function outputObject(message: DescMessage): Json {
    const union = unionOf(message);
    return union
      ? unionObject(message, union)
      : objectOf(prose(commentOf(message)), membersOf(message.fields));
  }

  const membersOf = (fields: readonly DescField[]): ObjectSchema => ({
    properties: Object.fromEntries(fields.map((field) => [field.name, outputField(field)])),
    required: fields.filter((field) => !field.oneof && isAlwaysWritten(field)).map(({ name }) => name),
  });

  /** A message whose `type` names the member of its oneof: one schema for each type. */
  function unionObject(message: DescMessage, { kind, payload }: Union): Json {
    const variants = kind.enum.values.flatMap((value) => {
      const word = enumValueName(value);
      const member = payload.fields.find(({ name }) => name === word);
      return member
        ? [{ word, member, text: prose(commentOf(value)), name: `${schemaName(message)}${pascal(word)}` }]
        : [];
    });
    const refs = variants.map(({ word, member, text, name }) =>
      refer(name, `${message.typeName} ${word}`, () => {
        const { properties, required } = membersOf(
          message.fields.filter((field) => field.oneof !== payload || field === member),
        );
        return objectOf(text, {
          properties: { ...properties, type: { type: "string", const: word } },
          required: [...required, word],
        });
      }),
    );
    const mapping = Object.fromEntries(
      variants.map(({ word, name }) => [word, `#/components/schemas/${name}`]),
    );
    return {
      description: prose(commentOf(message)),
      oneOf: refs,
      discriminator: { propertyName: "type", mapping },
    };
  }

  function outputField(field: DescField): Json {
    const schema = outputValue(field);
    return described(wireOptions(field).orNull ? orNull(schema) : schema, prose(commentOf(field)));
  }

  function outputValue(field: DescField): Json {
    if (field.fieldKind === "list") return { type: "array", items: outputElement(field) };
    if (field.fieldKind === "map") return { type: "object", additionalProperties: outputElement(field) };
    return outputElement(field);
  }

  function outputElement(field: DescField): Json {
    if (field.enum) return enumSchema(field.enum);
    if (field.message) return wellKnown[field.message.typeName] ?? output(field.message);
    if (field.scalar === undefined) return {};
    const { minimum: _, maximum: __, ...schema } = scalarSchema(field.scalar);
    return schema;
  }

  return {
    request: input,
    answer,
    output,
    inputField,
    other: (name, make) => refer(name, name, make),
    all: () => Object.fromEntries([...schemas].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** The schema of an object. */
interface ObjectSchema extends Json {
  readonly properties: Readonly<Record<string, Json>>;
  readonly required: readonly string[];
}

function objectOf(description: string, { properties, required }: ObjectSchema): Json {
  return defined({
    type: "object",
    description: description === "" ? undefined : description,
    properties,
    required: required.length > 0 ? required : undefined,
  });
}

/**
 * The writer of v2 leaves out only fields with presence, and those of `omit_empty` (src/http/v2/writer.ts).
 */
function isAlwaysWritten(field: DescField): boolean {
  const { orNull: writesNull, omitEmpty } = wireOptions(field);
  if (writesNull) return true;
  const hasPresence =
    field.fieldKind !== "list" &&
    field.fieldKind !== "map" &&
    field.presence !== FeatureSet_FieldPresence.IMPLICIT;
  return !hasPresence && !omitEmpty;
}

/** The values of an enum, without the zero that means "not set". */
const sentValues = (desc: DescEnum) =>
  desc.values.filter(
    (value) =>
      !(value.number === 0 && value.name.endsWith("_UNSPECIFIED") && enumValueName(value) === value.name),
  );

function enumObject(desc: DescEnum): Json {
  const values = sentValues(desc);
  const lines = values.map((value) => `- \`${enumValueName(value)}\`: ${prose(commentOf(value))}`);
  return {
    type: "string",
    description: [prose(commentOf(desc)), lines.join("\n")].join("\n\n"),
    enum: values.map(enumValueName),
  };
}
