import { z } from "zod";
import { invalidArgument } from "../../core/failure.ts";
import { type Json, Refusal } from "../shared/operations.ts";

const id = z.string().min(1).max(255);
const json = z.record(z.string(), z.unknown());

const message = z.looseObject({ id, role: z.string().max(32), content: z.unknown().optional() });

const input = z.looseObject({
  threadId: id,
  runId: id,
  messages: z.array(message).max(10_000),
  state: z
    .looseObject({ task_id: z.string().max(128).optional(), last_seq: z.int().min(0).optional(), done: z.string().max(255).nullish() })
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
  forwardedProps: z.looseObject({ task: json.optional(), stop: z.boolean().optional() }).nullish(),
});

/** A request to run an agent (`RunAgentInput` of AG-UI 1.0), as far as this door reads it. */
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

/** The content of a message in the form of v2: a text, or its parts. @throws Refusal for a part that a task cannot take. */
export function contentOf({ content }: InputMessage): string | readonly Json[] {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(partOf);
  throw wrong("must be a text or a list of parts");
}

function partOf(part: unknown): Json {
  const { type, text, source, metadata, filename: before } = (part ?? {}) as Json;
  if (type === "text" && typeof text === "string") return { type: "text", text };
  const { type: kind, value, mimeType } = (source ?? {}) as Json;
  if (typeof value !== "string") throw wrong("a part is a text, or has a source with a value");
  // Earlier clients send the name next to the source.
  const filename = ((metadata ?? {}) as Json)["filename"] ?? before;
  const named = typeof filename === "string" && filename !== "" ? { filename } : {};
  if (kind === "url") return { type: "file", file_url: value, ...named };
  if (kind === "data") return { type: "file", file_data: `data:${String(mimeType)};base64,${value}`, ...named };
  if (kind === "file") return { type: "file", file_id: value };
  throw wrong("the source of a part is a url, data or a file");
}

const wrong = (rule: string): Refusal => new Refusal("invalid_argument", `messages: ${rule}`, { field: "messages" });
