import { z } from "zod";
import { invalid } from "../../core/failure.ts";
import type { TaskEvent } from "../../gen/proto/task/v2/task_event_pb.ts";
import { unused } from "../v1/input-shape.ts";
import { messageOf, type Part } from "./response.ts";

/** Which page of a conversation's input. */
export const inputItemsPage = z.object({
  response_id: z.string(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order: z.enum(["asc", "desc"]).default("desc"),
  after: z.string().optional(),
  include: unused,
});

/**
 * A page of what the user said, in the form of input.
 *
 * @throws Failure `invalid` for an `after` that names none of it.
 */
export function listInputItems(messages: readonly TaskEvent[], { limit, order, after }: z.infer<typeof inputItemsPage>): object {
  const items = messages.flatMap((event) => (event.payload.case === "userMessage" ? (messageOf(event) ?? []) : []));
  const ordered = order === "asc" ? items : items.toReversed();
  const place = after === undefined ? -1 : ordered.findIndex(({ id }) => id === after);
  if (after !== undefined && place < 0) throw invalid("after", "is none of this list");
  const data = ordered.slice(place + 1, place + 1 + limit).map((item) => ({ ...item, content: item.content.map(inputPart) }));
  const ends = data.length === 0 ? {} : { first_id: data[0]?.id, last_id: data.at(-1)?.id };
  return { object: "list", data, ...ends, has_more: place + 1 + limit < ordered.length };
}

const inputPart = (part: Part): object =>
  part.type === "output_text"
    ? { type: "input_text", text: part.text }
    : { type: "input_file", file_url: part.fileUrl, filename: part.fileName };
