import type { MessageInitShape } from "@bufbuild/protobuf";
import { z } from "zod";
import { ContentPartType, type MessageSchema } from "../../gen/proto/task/v2/message_pb.ts";
import { present } from "./fields.ts";

/** The members of a request that make a message (contract/v1.md 4.1, 4.2). */
export const messageFields = {
  prompt: z.string(),
  attachments: z
    .array(
      z.object({
        filename: z.string().optional(),
        file_id: z.string().optional(),
        url: z.string().optional(),
        file_data: z.string().optional(),
        data: z.string().optional(),
        mime_type: z.string().optional(),
      }),
    )
    .default([]),
  connectors: z.array(z.string()).default([]),
};

type MessageInput = z.output<z.ZodObject<typeof messageFields>>;

/** The prompt, and each attachment as a file part behind it. */
export const messageOf = ({ prompt, attachments, connectors }: MessageInput): MessageInitShape<typeof MessageSchema> => ({
  content: [{ type: ContentPartType.TEXT, text: prompt }, ...attachments.map(filePart)],
  connectors,
});

/** `data` beside `filename` is read as `file_data` (contract/decisions.md 50); v1 has no `data` without a name. */
const filePart = ({ filename, file_id, url, data, mime_type, ...given }: MessageInput["attachments"][number]) => {
  const file_data = given.file_data ?? (filename === undefined ? undefined : data);
  return {
    type: ContentPartType.FILE,
    ...present({ filename, fileId: file_id, fileUrl: url, fileData: file_data, mimeType: mime_type }),
  };
};

/** What v1 calls a field of such a message: the first part is the prompt, the others are attachments. */
export function messagePath(path: string): string {
  const [, index, member] = /^message\.content\[(\d+)\](.*)$/.exec(path) ?? [];
  if (index !== undefined && index !== "0") return `attachments[${Number(index) - 1}]${member === ".file_url" ? ".url" : member}`;
  return path.replace(/^message\.content.*$/, "prompt").replace(/^message\./, "");
}

/** A rule on such a message, with the names of v1: what v2 calls `file_url` is `url` here. */
export const messageRule = (rule: string): string => rule.replaceAll("file_url", "url");
