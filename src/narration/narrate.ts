import type { TaskEvent, TextDelta, WatchEvent } from "../../packages/client/src/index.ts";
import { textOf } from "../protocols/shared/turn.ts";

/** What an agent writes: its messages, or its reasoning. */
export type Voice = "answer" | "thought";

/** What a watch adds to a conversation. */
export type Passage =
  /** A part of a text; the first one with an id begins the text. */
  | { readonly kind: "part"; readonly voice: Voice; readonly id: string; readonly text: string }
  /** The end of a text: its parts are the text of the event. A text without parts has the id of its event. */
  | {
      readonly kind: "end";
      readonly voice: Voice;
      readonly id: string;
      readonly rest: string;
      readonly event: TaskEvent;
    }
  /** The text of this id is not continued: it is written again, or parts are missing. */
  | { readonly kind: "lost"; readonly voice: Voice; readonly id: string }
  | { readonly kind: "event"; readonly event: TaskEvent };

interface Open {
  readonly id: string;
  readonly voice: Voice;
  readonly text: string;
}

/**
 * Creates the reader of one watch, from the first item on. Parts of texts are hints (spec/api.md 8.72): the
 * client puts them together, and the event that has the complete text is compared with them.
 */
export function createNarrator(): (item: WatchEvent) => readonly Passage[] {
  let open: Open | null = null;

  function lose(): readonly Passage[] {
    const lost = open;
    open = null;
    return lost === null ? [] : [{ kind: "lost", voice: lost.voice, id: lost.id }];
  }

  function partOf({ message_key, attempt, type }: TextDelta, text: string): readonly Passage[] {
    const voice: Voice = type === "explanation" ? "thought" : "answer";
    const id = `${message_key}.${attempt}`;
    const lost = open !== null && (open.id !== id || !text.startsWith(open.text)) ? lose() : [];
    const known = open?.text.length ?? 0;
    open = { id, voice, text };
    return text.length === known ? lost : [...lost, { kind: "part", voice, id, text: text.slice(known) }];
  }

  function eventOf(event: TaskEvent): readonly Passage[] {
    const voice = voices[event.type];
    if (voice === undefined) return [...(endsTurn(event) ? lose() : []), { kind: "event", event }];
    const content = textOf(event);
    if (open?.voice === voice && content.startsWith(open.text)) {
      const { id, text } = open;
      open = null;
      return [{ kind: "end", voice, id, rest: content.slice(text.length), event }];
    }
    const lost = open?.voice === voice ? lose() : [];
    return [...lost, { kind: "end", voice, id: messageId(event), rest: content, event }];
  }

  return (item) => (item.type === "text_delta" ? partOf(item.delta, item.text) : eventOf(item));
}

const voices: Readonly<Record<string, Voice | undefined>> = {
  assistant_message: "answer",
  explanation: "thought",
};

/** The id of an event's message. Clients choose those of other messages. */
export const messageId = ({ id }: Pick<TaskEvent, "id">): string => `${ownIds}${id}`;

/** How the ids begin that this server gives messages. */
export const ownIds = "atp-";

/** Whether the turn no longer writes text (spec/api.md 8.72). */
const endsTurn = (event: TaskEvent): boolean =>
  event.type === "error_message" ||
  event.type === "user_stop" ||
  (event.type === "status_update" && event.status_update.agent_status !== "running");

export type ToolEvent = Extract<TaskEvent, { readonly type: "tool_used" }>;

export const toolResultOf = ({ tool_used: { result, status } }: ToolEvent): string =>
  JSON.stringify(result ?? { status });
