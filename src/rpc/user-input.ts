import type { Caller } from "../core/accounts/caller.ts";
import { checkGranted } from "../core/connectors/catalogue.ts";
import { invalidArgument } from "../core/failure.ts";
import type { FetchFiles } from "../core/files/fetch-files.ts";
import { type FilePart, filePart } from "../core/files/part.ts";
import type { Tx } from "../core/store.ts";
import { messageText, type UserInput } from "../core/tasks/message.ts";
import { type ContentPart, ContentPartType, type Message } from "../gen/proto/task/v2/message_pb.ts";

/** Writes the files of a message inside a change, and returns the input. */
export type KeepInput = (tx: Tx, caller: Caller) => Promise<UserInput>;

/**
 * Converts a request's message for the core (spec/api.md 7.2, 7.3). Its files are
 * fetched and decoded before the change, after all other checks.
 *
 * @param gone aborted when the client no longer waits.
 * @throws Failure `invalid_argument` for a part that breaks a rule, or an unknown connector; `insufficient_scope` for a
 * connector that was not granted to the app; the failures of fetching files.
 */
export type ReadInput = (caller: Caller, message: Message | undefined, gone: AbortSignal) => Promise<KeepInput>;

export const inputReader =
  (fetchFiles: FetchFiles): ReadInput =>
  async (caller, message, gone) => {
    const { content = [], connectors = [], noConnectors = false, taskReferences: references = [] } = message ?? {};
    const { enableSkills: skills = [], forceSkills: forced = [] } = message ?? {};
    const means = { skills, forced, connectors, noConnectors };
    if (noConnectors && connectors.length > 0) throw invalidArgument("message.no_connectors", "cannot be given with connectors");
    checkGranted(caller, connectors);
    const texts = content.flatMap(textIn);
    const parts = content.flatMap(fileIn);
    messageText({ texts, attachments: parts });
    const keep = await fetchFiles(caller, parts, gone);
    const spoken = parts.some((part) => part.isVoice);
    return async (tx, owner) => ({ texts, references, attachments: await keep(tx, owner), spoken, resources: means });
  };

function textIn({ type, text }: ContentPart, index: number): readonly string[] {
  if (type !== ContentPartType.TEXT) return [];
  if (text === undefined) throw invalidArgument(`message.content[${index}].text`, "is required in a text part");
  return [text];
}

const fileIn = (part: ContentPart, index: number): readonly FilePart[] =>
  part.type === ContentPartType.TEXT ? [] : [filePart(`message.content[${index}]`, part.type === ContentPartType.VOICE, part)];
