import type { Caller } from "../core/caller.ts";
import { checkGranted } from "../core/connectors/granted.ts";
import { invalid } from "../core/failure.ts";
import type { BringFiles } from "../core/files/bring.ts";
import { type FilePart, filePart } from "../core/files/part.ts";
import type { Tx } from "../core/store.ts";
import { messageText, type UserInput } from "../core/tasks/message.ts";
import { type ContentPart, ContentPartType, type Message } from "../gen/proto/task/v2/message_pb.ts";

/** A message as the change that writes it makes it, with its files. */
export type KeepInput = (tx: Tx, caller: Caller) => Promise<UserInput>;

/**
 * A request's message in terms of the core (contract/v2.md 7.2, 7.3). What it brings
 * is fetched and decoded before the change, once all that needs neither is right.
 *
 * @param gone aborted when nobody waits any more.
 * @throws Failure `invalid` for a part that breaks a rule, or an unknown connector; `insufficient_scope` for a connector that an app was not granted; what bringing files throws.
 */
export type ReadInput = (caller: Caller, message: Message | undefined, gone: AbortSignal) => Promise<KeepInput>;

export const inputReader =
  (bring: BringFiles): ReadInput =>
  async (caller, message, gone) => {
    const { content = [], connectors = [], noConnectors = false, taskReferences: references = [] } = message ?? {};
    const { enableSkills: skills = [], forceSkills: forced = [] } = message ?? {};
    const means = { skills, forced, connectors, noConnectors };
    if (noConnectors && connectors.length > 0) throw invalid("message.no_connectors", "cannot be given with connectors");
    checkGranted(caller, connectors);
    const texts = content.flatMap(textIn);
    const parts = content.flatMap(fileIn);
    messageText({ texts, attachments: parts });
    const keep = await bring(caller, parts, gone);
    const spoken = parts.some((part) => part.spoken);
    return async (tx, keeper) => ({ texts, references, attachments: await keep(tx, keeper), spoken, means });
  };

function textIn({ type, text }: ContentPart, index: number): readonly string[] {
  if (type !== ContentPartType.TEXT) return [];
  if (text === undefined) throw invalid(`message.content[${index}].text`, "is required in a text part");
  return [text];
}

const fileIn = (part: ContentPart, index: number): readonly FilePart[] =>
  part.type === ContentPartType.TEXT ? [] : [filePart(`message.content[${index}]`, part.type === ContentPartType.VOICE, part)];
