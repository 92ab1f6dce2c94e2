import type { Client, OperationName, RequestOf } from "../../../../packages/client/src/index.ts";
import { type Failure, invalidArgument } from "../../../core/failure.ts";
import { generatedTools, type InputSchema } from "./generated.ts";

/*
 * The inputs of tools. They are JSON of a client, and enter here only: a tool gets an object of the type that its members have.
 */

/** A member of an input: its JSON Schema, and the reader of its value. */
export interface Member<T> {
  readonly schema: object;
  /** @throws Failure `invalid_argument` */
  read(value: unknown, field: string): T;
}

export type Members = Readonly<Record<string, Member<unknown>>>;

type ValueOf<M> = M extends Member<infer T> ? T : never;

/** The object that members read. A member whose value can be undefined can be absent. */
export type InputOf<M extends Members> = {
  readonly [Name in keyof M as undefined extends ValueOf<M[Name]> ? never : Name]: ValueOf<M[Name]>;
} & {
  readonly [Name in keyof M as undefined extends ValueOf<M[Name]> ? Name : never]?: Exclude<
    ValueOf<M[Name]>,
    undefined
  >;
};

/** A text. */
export const text = (description: string, more: object = {}): Member<string> => ({
  schema: { type: "string", ...more, description },
  read(value, field) {
    if (typeof value !== "string" || value === "")
      throw invalidArgument(field, "must be a text that is not empty");
    return value;
  },
});

/** A text with this rule in its schema. */
export const filled = (description: string): Member<string> => text(description, { minLength: 1 });

/** A list of texts; empty when absent. */
export const texts = (description: string): Member<readonly string[]> => ({
  schema: { type: "array", items: { type: "string" }, description },
  read(value, field) {
    const list: unknown = value ?? [];
    if (!Array.isArray(list) || !list.every((one) => typeof one === "string"))
      throw invalidArgument(field, "must be a list of texts");
    return list;
  },
});

/** A whole number from `minimum` to `maximum`. Its schema has the bounds in `schema`. */
export const whole = (minimum: number, maximum: number, schema: object): Member<number> => ({
  schema: { type: "integer", ...schema },
  read(value, field) {
    if (typeof value !== "number" || !Number.isInteger(value) || value < minimum || value > maximum)
      throw invalidArgument(field, `must be a whole number from ${minimum} to ${maximum}`);
    return value;
  },
});

/** A member that may be absent, and has another value then. */
export function optional<T>(member: Member<T>, usual: T): Member<T>;
export function optional<T>(member: Member<T>): Member<T | undefined>;
export function optional<T>({ schema, read }: Member<T>, usual?: T): Member<T | undefined> {
  return { schema, read: (value, field) => (value == null ? usual : read(value, field)) };
}

/** Members of the request of an operation, which reads them. */
export function membersOf<Name extends OperationName, Member extends keyof RequestOf<Name> & string>(
  operation: Name,
  names: readonly Member[],
) {
  const { properties = {} } = generatedTools().get(operation)?.inputSchema ?? {};
  const members = names.map((name) => [name, { schema: properties[name], read: (value: unknown) => value }]);
  return Object.fromEntries(members) as {
    readonly [N in Member]: { schema: object; read(value: unknown): RequestOf<Name>[N] };
  };
}

/** The schema of an input with these members and no others. */
export const schemaOf = (members: Members, required: readonly string[]): InputSchema => ({
  type: "object",
  // JSON Schemas, written in this folder or made of the descriptors.
  properties: Object.fromEntries(
    Object.entries(members).map(([name, { schema }]) => [name, schema]),
  ) as NonNullable<InputSchema["properties"]>,
  required: [...required],
  additionalProperties: false,
});

/**
 * @throws Failure `invalid_argument` for a member that the tool does not have, or whose value does not fit.
 */
export function readInput<M extends Members>(
  members: M,
  input: { readonly [name: string]: unknown },
): InputOf<M> {
  const unknown = Object.keys(input).find((name) => !Object.hasOwn(members, name));
  if (unknown !== undefined) throw notMember(unknown, Object.keys(members));
  const read = Object.entries(members).map(
    ([name, member]) => [name, member.read(input[name], name)] as const,
  );
  // Members that are undefined are absent.
  return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as InputOf<M>;
}

const notMember = (name: string, names: readonly string[]): Failure =>
  invalidArgument(name.slice(0, 64), `is not a member; the members are ${names.join(", ")}`);

/** Calls an operation with the input of its tool, which the operation reads. */
export async function callWith(client: Client, operation: string, input: object): Promise<object> {
  const { request_id, ...answer } = await client.call(
    operation as OperationName,
    input as RequestOf<OperationName>,
  );
  return answer;
}
