import type { Caller } from "../core/accounts/caller.ts";
import { checkGranted } from "../core/connectors/granted.ts";
import { invalidArgument } from "../core/failure.ts";
import type { FetchFiles } from "../core/files/fetch-files.ts";
import { type FilePart, filePart } from "../core/files/part.ts";
import type { MessageTarget, TranscribeRecordings, Transcripts } from "../core/speech/transcript.ts";
import type { Tx } from "../core/store.ts";
import { messageText, type UserInput } from "../core/tasks/message.ts";
import type { RequestedResources } from "../core/tasks/task-resources.ts";
import { type ContentPart, ContentPartType, type Message } from "../gen/proto/task/v2/message_pb.ts";

/** A message that was read, before its change. */
export interface ReadMessage {
  /** Writes the files of the message inside a change, and returns the input. */
  readonly keep: (tx: Tx, caller: Caller) => Promise<UserInput>;
  /** Warnings for the answer: recordings that were not transcribed. */
  readonly warnings: string[];
}

/**
 * Converts a request's message for the core (spec/api.md 7.2, 7.3). Its files are fetched and decoded before
 * the change, after all other checks, and its speech is transcribed.
 *
 * @param gone aborted when the client no longer waits.
 * @throws Failure `invalid_argument` for a part that breaks a rule, or an unknown connector;
 * `insufficient_scope` for a connector that was not granted to the app; the failures of fetching files; for
 * speech, `not_found` for an unknown task.
 */
export type ReadInput = (
  caller: Caller,
  message: Message | undefined,
  target: MessageTarget,
  gone: AbortSignal,
) => Promise<ReadMessage>;

export const inputReader =
  (fetchFiles: FetchFiles, transcribe: TranscribeRecordings): ReadInput =>
  async (caller, message, target, gone) => {
    const { content = [], taskReferences = [] } = message ?? {};
    const resources = readResources(message);
    checkGranted(caller, resources.connectors);
    const texts = content.flatMap(textIn);
    const parts = content.flatMap(fileIn);
    messageText({ texts, attachments: parts });
    const { keep, recordings } = await fetchFiles(caller, parts, gone);
    const spoken = recordings.length > 0;
    const transcripts = spoken ? await transcribe(caller, target, recordings, gone) : noTranscripts;
    const withTranscripts =
      transcripts.texts.size === 0 ? {} : { withTranscripts: joinTexts(content, transcripts.texts) };
    const input = {
      texts,
      references: taskReferences,
      spoken,
      resources,
      ...withTranscripts,
      transcriptPrice: transcripts.price,
    };
    return {
      keep: async (tx, owner) => ({ ...input, attachments: await keep(tx, owner) }),
      warnings: [...transcripts.warnings],
    };
  };

/**
 * The input of a message that may have text only.
 *
 * @throws Failure `invalid_argument` as `inputReader`, and for a part that is not text.
 */
export function readTextInput(message: Message | undefined) {
  const { content = [], taskReferences = [] } = message ?? {};
  const other = content.findIndex(({ type }) => type !== ContentPartType.TEXT);
  if (other >= 0) throw invalidArgument(`message.content[${other}]`, "must be text, because files expire");
  const texts = content.flatMap(textIn);
  messageText({ texts });
  return { texts, references: taskReferences, resources: readResources(message) };
}

function readResources(message: Message | undefined): RequestedResources {
  const { connectors = [], noConnectors = false, enableSkills = [], forceSkills = [] } = message ?? {};
  if (noConnectors && connectors.length > 0)
    throw invalidArgument("message.no_connectors", "cannot be given with connectors");
  return { skills: enableSkills, forced: forceSkills, connectors, noConnectors };
}

const noTranscripts: Transcripts = { texts: new Map(), warnings: [], price: 0n };

/** The texts and transcripts of a message, in the order of its parts. */
const joinTexts = (content: readonly ContentPart[], transcripts: ReadonlyMap<string, string>): string =>
  content
    .flatMap(
      (part, index) =>
        (part.type === ContentPartType.TEXT ? part.text : transcripts.get(pathAt(index))) ?? [],
    )
    .join("\n");

const pathAt = (index: number): string => `message.content[${index}]`;

function textIn({ type, text }: ContentPart, index: number): readonly string[] {
  if (type !== ContentPartType.TEXT) return [];
  if (text === undefined) throw invalidArgument(`${pathAt(index)}.text`, "is required in a text part");
  return [text];
}

const fileIn = (part: ContentPart, index: number): readonly FilePart[] =>
  part.type === ContentPartType.TEXT
    ? []
    : [filePart(pathAt(index), part.type === ContentPartType.VOICE, part)];
