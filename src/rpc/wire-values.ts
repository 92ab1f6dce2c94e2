import { type DescEnum, type EnumShape, getOption } from "@bufbuild/protobuf";
import { defined } from "../core/defined.ts";
import { ShareVisibilitySchema, TaskStatusSchema, TaskTypeSchema } from "../gen/proto/task/v2/task_pb.ts";
import { word } from "../gen/proto/taskplatform/options/v1/options_pb.ts";

/** Converts Unix milliseconds to Unix seconds of the wire. */
export const seconds = (ms: number): bigint => BigInt(Math.floor(ms / 1000));

/** The members that end a page of a list with cursors. */
export const pageEnd = (next: string | undefined) => ({
  hasMore: next !== undefined,
  ...defined({ nextCursor: next }),
});

/** Converts between the core's names and an enum's numbers. */
export interface EnumConverter<Word extends string, Value> {
  readonly toValue: (word: Word) => Value;
  readonly toName: (value: Value) => Word | undefined;
}

/**
 * The names that the proto defines for an enum's values. The core uses the same names,
 * so the descriptor is the only table. With `words`, the compiler and the start check
 * that the core knows all of them.
 */
export function enumConverter<Desc extends DescEnum, Word extends string>(
  desc: Desc,
  words: readonly Word[],
): EnumConverter<Word, EnumShape<Desc>> {
  const pairs = desc.values
    .map((value) => [getOption(value, word), value.number] as const)
    .filter(([text]) => text !== "");
  const values = new Map<string, number>(pairs);
  const missing = [
    ...words.filter((text) => !values.has(text)),
    ...[...values.keys()].filter((text) => !(words as readonly string[]).includes(text)),
  ];
  if (missing.length > 0) throw new Error(`${desc.typeName} and the core differ on: ${missing.join(", ")}`);
  const texts = new Map(pairs.map(([text, number]) => [number, text]));
  return {
    // The checks above ensure that both maps have exactly `words`.
    toValue: (text) => values.get(text) as EnumShape<Desc>,
    toName: (value) => texts.get(Number(value)) as Word | undefined,
  };
}

/** Names of a task's enum values (spec/api.md 7.1). */
export const taskStatus = enumConverter(TaskStatusSchema, [
  "running",
  "stopped",
  "waiting",
  "error",
] as const);
export const taskType = enumConverter(TaskTypeSchema, ["standard", "project", "agent_subtask"] as const);
export const visibility = enumConverter(ShareVisibilitySchema, ["private", "team", "public"] as const);
