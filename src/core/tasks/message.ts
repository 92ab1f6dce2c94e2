import type { Scope } from "../accounts/caller.ts";
import { type Failure, invalidArgument } from "../failure.ts";
import type { Attachment } from "../files/file.ts";
import type { Tx } from "../store.ts";
import type { EventWindow, TaskEvent } from "./event.ts";
import type { Task, TaskStatus } from "./task.ts";
import type { RequestedResources } from "./task-resources.ts";

/** Estimated tokens of user text in one request (spec/api.md 9.6). */
const tokensMax = 5000;
/** A task keeps its 20 most recent references (spec/api.md 9.8). */
const referencesMax = 20;
const titleMax = 80;

/** A user's message to a task, from any wire form. */
export interface UserInput {
  /** The text parts, in order. */
  readonly texts: readonly string[];
  readonly references: readonly string[];
  /** The message's files, in order. */
  readonly attachments?: readonly Attachment[];
  /** True when a part is speech. */
  readonly spoken?: boolean;
  /** The text with the transcripts of speech, in the order of the parts; absent without transcripts. */
  readonly withTranscripts?: string;
  /** The price of the transcripts, in millionths of a credit. */
  readonly transcriptPrice?: bigint;
  readonly resources?: RequestedResources;
}

/** The estimate of the API: four ASCII characters count as one token, any other character as one. */
export function estimateTokens(text: string): number {
  let ascii = 0;
  let others = 0;
  for (const character of text) {
    if (character < "\u0080") ascii += 1;
    else others += 1;
  }
  return Math.ceil(ascii / 4) + others;
}

/** The refusal of a text above the limit. */
export const textTooLong = (path = "message.content"): Failure =>
  invalidArgument(path, `must be at most ${tokensMax} estimated tokens`);

/**
 * The text of a message: its parts, joined by line feeds. Only the text that the user has written
 * counts toward the limit (spec/api.md 9.6), transcripts do not; it may be empty when there are files (14.2).
 *
 * @param path the field that the error text names.
 * @throws Failure `invalid_argument` for a text that is too long, and for an empty one without files.
 */
export function messageText(
  {
    texts,
    attachments = [],
    withTranscripts,
  }: Pick<UserInput, "texts" | "withTranscripts"> & { attachments?: readonly unknown[] },
  path = "message.content",
): string {
  const written = texts.join("");
  if (written.trim() === "" && attachments.length === 0) throw invalidArgument(path, "must not be empty");
  // The estimate is at least a quarter of the length, so a text of megabytes is refused without counting.
  if (written.length > 4 * tokensMax || estimateTokens(written) > tokensMax) {
    throw textTooLong(path);
  }
  return withTranscripts ?? texts.join("\n");
}

/** The first line with text, at most 80 characters: the title until the agent sets another. */
export function deriveTitle(text: string): string {
  const line = text.split("\n").find((candidate) => candidate.trim() !== "") ?? "";
  const characters = [...line.trim()];
  return characters.length <= titleMax
    ? characters.join("")
    : `${characters.slice(0, titleMax - 1).join("")}…`;
}

/** Adds references to a task's: drops duplicates and the task itself, keeps the newest. */
export function addReferences(
  existing: readonly string[],
  added: readonly string[],
  self: string,
): readonly string[] {
  const unique = [...new Set(added)].filter((id) => id !== self);
  return [...existing.filter((id) => !unique.includes(id)), ...unique].slice(-referencesMax);
}

/** The canonical spelling of a BCP 47 tag; the account's locale for any other text (spec/api.md 14.2). */
export function canonicalLocale(tag: string | undefined, account: string): string {
  try {
    return Intl.getCanonicalLocales(tag)[0] ?? account;
  } catch {
    return account;
  }
}

/** A referenced task, opened for reading. */
export interface ReferencedTask {
  readonly id: string;
  readonly title: string;
  readonly status: TaskStatus;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** The number of its newest event. */
  readonly lastSeq: number;
  events(window: EventWindow): Promise<readonly TaskEvent[]>;
}

/** The tasks that a task refers to (spec/api.md 9.8). */
export interface References {
  readonly ids: readonly string[];
  /**
   * Null for a task that is not referenced, that may not be read, or that does not exist. Checks access on
   * each call.
   */
  open(id: string): Promise<ReferencedTask | null>;
}

/** The references of a task, with the access of its owner; of an app's task, with the access of the app. */
export function referencesOf(
  store: Pick<Tx, "tasks" | "events">,
  {
    references,
    accountId,
    spaceId,
    clientId,
  }: Pick<Task, "references" | "accountId" | "spaceId" | "clientId">,
): References {
  const scope: Scope = { accountId, spaceId, clientId: clientId ?? undefined };
  return {
    ids: references,
    async open(id) {
      const task = references.includes(id) ? await store.tasks.find(scope, id) : null;
      return task && toReferencedTask(store, task);
    },
  };
}

/** A task for reading. The caller has checked access. */
export const toReferencedTask = (
  { events }: Pick<Tx, "events">,
  { id, title, status, createdAt, lastSeq }: Pick<Task, "id" | "title" | "status" | "createdAt" | "lastSeq">,
): ReferencedTask => ({ id, title, status, createdAt, lastSeq, events: (window) => events.list(id, window) });
