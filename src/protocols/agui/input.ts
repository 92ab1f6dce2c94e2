import { z } from "zod";
import type { ContentPartInput, CreateTaskRequest } from "../../../packages/client/src/index.ts";
import { type Failure, invalidArgument } from "../../core/failure.ts";
import { isObject, type JsonObject } from "../../core/json.ts";

const id = z.string().min(1).max(255);

const message = z.looseObject({ id, role: z.string().max(32), content: z.unknown().optional() });

const input = z.looseObject({
  threadId: id,
  runId: id,
  messages: z.array(message).max(10_000),
  state: z
    .looseObject({
      task_id: z.string().max(128).optional(),
      last_seq: z.int().min(0).optional(),
      done: z.string().max(255).nullish(),
    })
    .nullish(),
  tools: z.array(z.unknown()).max(1_000).optional(),
  context: z.array(z.unknown()).max(1_000).optional(),
  resume: z
    .array(
      z.looseObject({
        interruptId: z.string().min(1).max(128),
        status: z.enum(["resolved", "cancelled"]),
        payload: z.unknown().optional(),
      }),
    )
    .max(1)
    .optional(),
  forwardedProps: z
    .looseObject({ task: z.looseObject({}).optional(), stop: z.boolean().optional() })
    .nullish(),
});

/** A request to run an agent (`RunAgentInput` of AG-UI 1.0), as far as this protocol reads it. */
export type RunInput = z.infer<typeof input>;

export type InputMessage = z.infer<typeof message>;

/** The answer to an interrupt. */
export type Resume = NonNullable<RunInput["resume"]>[number];

/** @throws Failure `invalid_argument` with the path of the first mistake. */
export function readInput(value: unknown): RunInput {
  const { data, error } = input.safeParse(value);
  if (data) return data;
  const [issue] = error.issues;
  const field = issue?.path.join(".") ?? "";
  throw invalidArgument(field, issue?.message ?? "is not valid");
}

/**
 * The content of a message in the form of v2: a text, or its parts. @throws Failure for a part that a task
 * cannot take.
 */
export function contentOf({ content }: InputMessage): string | readonly ContentPartInput[] {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(partOf);
  throw wrong("must be a text or a list of parts");
}

function partOf(part: unknown): ContentPartInput {
  const { type, text, source, metadata, filename: before } = objectIn(part);
  if (type === "text" && typeof text === "string") return { type: "text", text };
  const { type: kind, value, mimeType } = objectIn(source);
  if (typeof value !== "string") throw wrong("a part is a text, or has a source with a value");
  // Earlier clients send the name next to the source.
  const filename = objectIn(metadata)["filename"] ?? before;
  const named = typeof filename === "string" && filename !== "" ? { filename } : {};
  if (kind === "url") return { type: "file", file_url: value, ...named };
  if (kind === "data")
    return { type: "file", file_data: `data:${String(mimeType)};base64,${value}`, ...named };
  if (kind === "file") return { type: "file", file_id: value };
  throw wrong("the source of a part is a url, data or a file");
}

const objectIn = (value: unknown): JsonObject => (isObject(value) ? value : {});

const wrong = (rule: string): Failure => invalidArgument("messages", rule);

/** Ids of the uses of tools in the client's messages. */
export const usesIn = ({ messages }: RunInput): readonly string[] =>
  messages.flatMap(({ toolCalls }) =>
    Array.isArray(toolCalls) ? toolCalls.map((call) => String(objectIn(call)["id"])) : [],
  );

/** The members of task.create that a client adds: the operation reads them. */
export const taskMembersIn = ({ forwardedProps }: RunInput): Partial<CreateTaskRequest> => ({
  ...forwardedProps?.task,
});

/** The decision in the answer to an approval: the operation reads it. */
export const decisionIn = ({ payload }: Resume): { readonly input: JsonObject } => ({
  input: (payload ?? null) as JsonObject,
});
