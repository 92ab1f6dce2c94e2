import { create } from "@bufbuild/protobuf";
import { useMutation } from "@tanstack/react-query";
import {
  ContentPartSchema,
  ContentPartType,
  type Message,
  MessageSchema,
} from "#proto/task/v2/message_pb.ts";
import type { TaskAttachment } from "#proto/task/v2/task_attachment_pb.ts";
import type { UserMessage } from "#proto/task/v2/task_event_pb.ts";
import { uploadFile } from "../api/upload.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { text } from "./words.ts";

interface RetryProps {
  /** The last message of the person. */
  readonly message: Pick<UserMessage, "content" | "attachments">;
  readonly isBusy: boolean;
  readonly onSend: (message: Message, files: readonly string[]) => Promise<unknown>;
}

/** Sends the last message of a failed task again, with its files. */
export function Retry({ message: { content, attachments }, isBusy, onSend }: RetryProps) {
  const again = useMutation({
    mutationFn: async () => {
      const files = await Promise.all(attachments.map(uploadAgain));
      const texts =
        content === "" ? [] : [create(ContentPartSchema, { type: ContentPartType.TEXT, text: content })];
      const names = attachments.map(({ filename }) => filename);
      // A note at the composer shows its error.
      await onSend(create(MessageSchema, { content: [...texts, ...files] }), names).catch(() => undefined);
    },
  });
  return (
    <>
      <ErrorNote error={again.error} />
      <p>
        <button
          type="button"
          className="button"
          disabled={isBusy || again.isPending}
          onClick={() => again.mutate()}
        >
          <Icon name="again" />
          {text.retry}
        </button>
      </p>
    </>
  );
}

/** A copy of a file: an event has the address of its bytes, and a message needs the id of an upload. */
async function uploadAgain({ url, filename, contentType = "" }: TaskAttachment) {
  const response = await fetch(url, { credentials: "omit" });
  if (!response.ok) throw new Error(`${filename}: ${response.status}`);
  const file = new File([await response.blob()], filename, { type: contentType });
  const fileId = await uploadFile(file, () => undefined, new AbortController().signal);
  return create(ContentPartSchema, { type: ContentPartType.FILE, fileId });
}
