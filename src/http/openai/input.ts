import type { MessageInitShape } from "@bufbuild/protobuf";
import { z } from "zod";
import { type ContentPartSchema, ContentPartType } from "../../gen/proto/task/v2/message_pb.ts";
import { unused } from "../v1/input-shape.ts";

/** What an item of an earlier answer has beside what it says: clients send such items back as they came. */
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
/** A file of an earlier answer: the task has it. */
const known = z.object({ type: z.literal("output_file"), file_url: echoed, file_name: echoed, mime_type: echoed });
const part = z.discriminatedUnion("type", [text, file, image, known], {
  error: "must be input_text, input_file or input_image",
});
type Part = z.infer<typeof part>;

/** A text is as good as a list of one part, or of one message of the user. */
const orText = <T extends z.ZodType>(list: T, listed: (text: string) => z.input<T>) =>
  z.preprocess((value) => (typeof value === "string" ? listed(value) : value), list);

const item = z.object({
  id: echoed,
  status: echoed,
  phase: echoed,
  type: z.literal("message", { error: "must be message" }).default("message"),
  role: z.enum(["user", "assistant", "system", "developer"]),
  content: orText(z.array(part), (text) => [{ type: "input_text" as const, text }]),
});

/** `input` of POST /responses: a text, or messages of a conversation (contract/v1.md 7.2). */
export const inputItems = orText(z.array(item).min(1, { error: "must not be empty" }), (content) => [{ role: "user" as const, content }]);
type Item = z.infer<typeof item>;

/** A part of the message to the agent, and how a path in it is called in this API. */
export interface Placed {
  readonly part: MessageInitShape<typeof ContentPartSchema>;
  readonly at: (field: string) => string;
}

/**
 * One message of all that was said: instructions first, then what system and developer
 * said, then the user's messages in order. What the assistant said before, by the
 * client's account, is handed on as such: the platform remembers its own answers.
 */
export function placedParts(instructions: string | undefined, items: readonly Item[]): readonly Placed[] {
  const placed = items.map((each, i) => ({ role: each.role, parts: each.content.flatMap((one, j) => placedPart(one, each.role, i, j)) }));
  const orders = placed.filter(({ role }) => isOrder(role));
  const said = placed.filter(({ role }) => !isOrder(role));
  return [...(instructions ? [placedText(instructions, "instructions")] : []), ...[...orders, ...said].flatMap(({ parts }) => parts)];
}

const isOrder = (role: Item["role"]): boolean => role === "system" || role === "developer";

function placedPart(one: Part, role: Item["role"], item: number, index: number): readonly Placed[] {
  const path = `input[${item}].content[${index}]`;
  switch (one.type) {
    case "input_file":
      return [placedFile(one, (field) => path + field)];
    case "input_image":
      return [placedFile(imageSource(one), (field) => path + (["", ".file_id"].includes(field) ? field : ".image_url"))];
    case "output_file":
      return [];
    default:
      return [placedText(role === "assistant" ? `Assistant: ${one.text}` : one.text, `${path}.text`)];
  }
}

const placedText = (text: string, path: string): Placed => ({ part: { type: ContentPartType.TEXT, text }, at: () => path });

type Source = Pick<z.infer<typeof file>, "file_id" | "file_url" | "file_data" | "filename">;

const placedFile = ({ file_id, file_url, file_data, filename }: Source, at: Placed["at"]): Placed => ({
  part: {
    type: ContentPartType.FILE,
    ...(file_id === undefined ? {} : { fileId: file_id }),
    ...(file_url === undefined ? {} : { fileUrl: file_url }),
    ...(file_data === undefined ? {} : { fileData: file_data }),
    ...(filename === undefined ? {} : { filename }),
  },
  at,
});

/** A data URI has no name: it gets one that says its type. */
function imageSource({ image_url, file_id }: z.infer<typeof image>): Source {
  const [, subtype] = /^data:image\/([a-z0-9]+)[^,]*,/i.exec(image_url ?? "") ?? [];
  const id = file_id === undefined ? {} : { file_id };
  if (image_url === undefined) return id;
  return image_url.startsWith("data:")
    ? { ...id, file_data: image_url, filename: `image.${subtype ?? "bin"}` }
    : { ...id, file_url: image_url };
}
