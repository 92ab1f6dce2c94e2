import type { MessageInitShape } from "@bufbuild/protobuf";
import { z } from "zod";
import { defined } from "../../core/defined.ts";
import { joinInstructions } from "../../core/tasks/turn-request.ts";
import { type ContentPartSchema, ContentPartType } from "../../gen/proto/task/v2/message_pb.ts";
import { unused } from "../v1/input.ts";
import type { Form } from "./items.ts";

/** A member of an item of an earlier answer that is ignored: clients send such items back unchanged. */
const echoed = z.unknown().optional();
const text = z.object({
  type: z.enum(["input_text", "output_text", "text"]),
  text: z.string(),
  annotations: echoed,
  logprobs: echoed,
  prompt_cache_breakpoint: unused,
});
const file = z.object({
  type: z.literal("input_file"),
  file_id: z.string().optional(),
  file_url: z.string().optional(),
  file_data: z.string().optional(),
  filename: z.string().optional(),
  detail: unused,
  prompt_cache_breakpoint: unused,
});
const image = z.object({
  type: z.literal("input_image"),
  image_url: z.string().optional(),
  file_id: z.string().optional(),
  detail: unused,
  prompt_cache_breakpoint: unused,
});
/** A file of an earlier answer: the task already has it. */
const known = z.object({
  type: z.literal("output_file"),
  file_url: echoed,
  file_name: echoed,
  mime_type: echoed,
});
const refusal = z.object({ type: z.literal("refusal"), refusal: echoed });
const part = z.discriminatedUnion("type", [text, file, image, known, refusal], {
  error: "must be input_text, input_file or input_image",
});
type Part = z.infer<typeof part>;

/** Accepts a text instead of a list: `toList` makes a list of one part, or of one user message. */
const orText = <T extends z.ZodType>(list: T, toList: (text: string) => z.input<T>) =>
  z.preprocess((value) => (typeof value === "string" ? toList(value) : value), list);

const message = z.object({
  id: echoed,
  status: echoed,
  phase: echoed,
  summary: echoed,
  type: z.literal("message").optional(),
  role: z.enum(["user", "assistant", "system", "developer"]),
  content: orText(z.array(part), (text) => [{ type: "input_text" as const, text }]),
});

/**
 * An item of an earlier response, and what an agent has thought: AI SDK and Agents SDK send them. Only in
 * OpenAI's form.
 */
const reference = z.object({ type: z.literal("item_reference"), id: z.string() });
const reasoning = z.object({
  type: z.literal("reasoning"),
  id: echoed,
  summary: echoed,
  content: echoed,
  encrypted_content: echoed,
  status: echoed,
});

const item = z.discriminatedUnion("type", [message, reference, reasoning], { error: "must be message" });

/** `input` of POST /responses: a text, or messages of a conversation (spec/v1.md 7.2). */
export const inputItems = orText(z.array(item).min(1, { error: "must not be empty" }), (content) => [
  { type: "message" as const, role: "user" as const, content },
]);
export type Item = z.infer<typeof item>;
export type InputMessage = z.infer<typeof message>;

/** A part of the message to the agent, with the path that its fields have in this API. */
export interface MessagePart {
  readonly part: MessageInitShape<typeof ContentPartSchema>;
  readonly pathOf: (field: string) => string;
}

/** The content of a request: the message to the agent, and in OpenAI's form the instruction of the turn. */
export interface Content {
  readonly parts: readonly MessagePart[];
  /** The instructions of the caller, and the texts of system and developer. */
  readonly instruction: string;
}

/**
 * The parts of one message made of the complete input. In the hosted form: first the instructions, then the
 * messages of system and developer, then the other messages in order; in OpenAI's form without texts that
 * instruct. Earlier answers that the client attributes to the assistant are marked as such; the platform has
 * its own record of its answers.
 *
 * @param items null for an item that adds nothing.
 */
export function contentOf(
  instructions: string | undefined,
  items: readonly (InputMessage | null)[],
  form: Form,
): Content {
  const placed = items.map((each, i) => ({
    role: each?.role,
    parts: each?.content.flatMap((one, j) => placedPart(one, each.role, i, j)) ?? [],
  }));
  const partsOf = (wanted: boolean) =>
    placed.filter(({ role }) => isInstruction(role) === wanted).flatMap(({ parts }) => parts);
  const [instructing, conversation] = [partsOf(true), partsOf(false)];
  const first = instructions ? [placedText(instructions, "instructions")] : [];
  if (form === "platform") return { parts: [...first, ...instructing, ...conversation], instruction: "" };
  const isText = ({ part }: MessagePart) => part.type === ContentPartType.TEXT;
  return {
    parts: [...instructing.filter((each) => !isText(each)), ...conversation],
    instruction: joinInstructions(
      ...[...first, ...instructing].filter(isText).map(({ part }) => part.text ?? ""),
    ),
  };
}

const isInstruction = (role: InputMessage["role"] | undefined): boolean =>
  role === "system" || role === "developer";

function placedPart(
  one: Part,
  role: InputMessage["role"],
  item: number,
  index: number,
): readonly MessagePart[] {
  const path = `input[${item}].content[${index}]`;
  switch (one.type) {
    case "input_file":
      return [placedFile(one, (field) => path + field)];
    case "input_image":
      return [
        placedFile(
          imageSource(one),
          (field) => path + (["", ".file_id"].includes(field) ? field : ".image_url"),
        ),
      ];
    case "output_file":
    case "refusal":
      return [];
    default:
      return [placedText(role === "assistant" ? `Assistant: ${one.text}` : one.text, `${path}.text`)];
  }
}

const placedText = (text: string, path: string): MessagePart => ({
  part: { type: ContentPartType.TEXT, text },
  pathOf: () => path,
});

type Source = Pick<z.infer<typeof file>, "file_id" | "file_url" | "file_data" | "filename">;

const placedFile = (
  { file_id, file_url, file_data, filename }: Source,
  at: MessagePart["pathOf"],
): MessagePart => ({
  part: {
    type: ContentPartType.FILE,
    ...defined({ fileId: file_id, fileUrl: file_url, fileData: file_data, filename }),
  },
  pathOf: at,
});

/** The source of an image. A data URI has no filename: it gets one with its type. */
function imageSource({ image_url, file_id }: z.infer<typeof image>): Source {
  const [, subtype] = /^data:image\/([a-z0-9]+)[^,]*,/i.exec(image_url ?? "") ?? [];
  const id = file_id === undefined ? {} : { file_id };
  if (image_url === undefined) return id;
  return image_url.startsWith("data:")
    ? { ...id, file_data: image_url, filename: `image.${subtype ?? "bin"}` }
    : { ...id, file_url: image_url };
}
