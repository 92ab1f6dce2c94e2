import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import {
  type AnyDesc,
  createFileRegistry,
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescOneof,
  type DescService,
  type FileRegistry,
  fromBinary,
  getOption,
} from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { getComments } from "@bufbuild/protoplugin";
import { discriminator, wire } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import { services } from "../../src/pipeline/services.ts";

const root = resolve(import.meta.dirname, "../..");

/** The schema with its comments, which generated code does not have. */
export function readSchema(): FileRegistry {
  const buf = resolve(root, "node_modules/.bin/buf");
  const image = execFileSync(buf, ["build", "-o", "-#format=binpb"], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  const schema = fromBinary(FileDescriptorSetSchema, image);
  const isShown = (field: DescField): boolean => !getOption(field, wire).hidden;
  // The last fields of their messages: the comments of other fields keep their places.
  for (const desc of createFileRegistry(schema))
    if (desc.kind === "message") desc.proto.field = desc.fields.filter(isShown).map(({ proto }) => proto);
  return createFileRegistry(schema);
}

/** The comment above a declaration: its paragraphs, each in one line. */
export const commentOf = (desc: Exclude<AnyDesc, DescFile>): readonly string[] =>
  (getComments(desc).leading ?? "")
    .split(/\n[ \t]*\n/)
    .map((paragraph) => paragraph.replaceAll(/\s+/g, " ").trim())
    .filter((paragraph) => paragraph !== "");

/** @throws Error for a name that the schema does not have. */
export function serviceOf(schema: FileRegistry, name: string): DescService {
  const service = schema.getService(name);
  if (!service) throw new Error(`the schema has no service ${name}`);
  return service;
}

/** The field's message type, unless it is one of protobuf's own. */
export const ownMessage = ({ message }: DescField): DescMessage | null =>
  message && !message.typeName.startsWith("google.protobuf.") ? message : null;

const methods = services.flatMap((service) => service.methods);
const requests: ReadonlySet<string> = new Set(methods.map(({ input }) => input.typeName));
const answers: ReadonlySet<string> = new Set(methods.map(({ output }) => output.typeName));

/** Whether a method takes the message. */
export const isRequest = ({ typeName }: DescMessage): boolean => requests.has(typeName);
/** Whether a method answers with the message. */
export const isAnswer = ({ typeName }: DescMessage): boolean => answers.has(typeName);

/** A message of which `kind` names the member that is set. */
export interface Union {
  readonly kind: DescField & { readonly enum: DescEnum };
  readonly payload: DescOneof;
}

export function unionOf(message: DescMessage): Union | undefined {
  const kind = message.fields.find((field) => getOption(field, discriminator));
  const [payload] = message.oneofs;
  return kind?.fieldKind === "enum" && payload ? { kind, payload } : undefined;
}

/** The messages that fields of these lead to, each once, in the order of the schema; not the given ones. */
export function messagesBelow(given: readonly DescMessage[]): readonly DescMessage[] {
  const found = new Set<DescMessage>();
  const visit = (message: DescMessage): void => {
    for (const field of message.fields) {
      const next = ownMessage(field);
      if (next === null || found.has(next)) continue;
      found.add(next);
      visit(next);
    }
  };
  for (const message of given) visit(message);
  return [...found];
}
