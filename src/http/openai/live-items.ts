import { TaskEventType } from "../../gen/proto/task/v2/task_event_pb.ts";
import type { TextDelta } from "../../gen/proto/task/v2/task_service_pb.ts";
import {
  isEnding,
  type NewStreamEvent,
  type Place,
  type StreamEvent,
  type StreamMapper,
} from "./stream-events.ts";

/** Adds the text of the message that the agent writes now to one reader's stream of a task. */
export interface LiveItems {
  add(delta: TextDelta): readonly StreamEvent[];
  /** The events to send for those of the mapper, which one event of the task has caused. */
  merge(events: readonly StreamEvent[]): readonly StreamEvent[];
}

/** An item whose message has no event so far. */
interface OpenItem {
  readonly id: string;
  readonly output_index: number;
  /** What was sent of its text. */
  pieces: string[];
  length: number;
}

interface ReadText {
  readonly attempt: bigint;
  /** What was read of it. */
  length: number;
  /** White space at its end: the event may not have it. */
  tail: string;
  /** True once its parts do not continue what was sent: then the reader waits for the event. */
  isOver: boolean;
}

/**
 * The parts of a text are an item, which ends with the message's event. They have no numbers of the task:
 * each has the number of the event before it, so a reader that continues after that event gets the complete
 * message. An item whose text is not the beginning of the next message ends as `incomplete`, and moves later
 * items by one place (spec/v1.md 7.5). In OpenAI's form the id of an item is known before its event; where an
 * item has ended as `incomplete`, later ones have the number of such items behind their id.
 *
 * @param lastNumber the number of the last event of the task before.
 */
export function liveItems(
  taskId: string,
  { place, namesItems }: Pick<StreamMapper, "place" | "namesItems">,
  lastNumber: number,
): LiveItems {
  let number = lastNumber;
  let moved = 0;
  let open: OpenItem | null = null;
  /** Ids of messages, with the ids of the items as which they were sent. */
  const sentAs = new Map<string, string>();
  let read: ReadText = { attempt: -1n, length: 0, tail: "", isOver: true };

  const numbered = (events: readonly NewStreamEvent[]): readonly StreamEvent[] =>
    events.map((event) => ({ ...event, sequence_number: number }));

  /** Reads a part, and returns what it adds to the text that was sent. */
  function readPart({ attempt, offset, text }: TextDelta): string {
    if (attempt > read.attempt) read = { attempt, length: 0, tail: "", isOver: false };
    if (attempt < read.attempt || read.isOver) return "";
    // A text that was begun again repeats what was sent, or is another one.
    const repeated = text.slice(0, Math.max(0, (open?.length ?? 0) - offset));
    read.isOver =
      offset !== read.length ||
      (open !== null && repeated !== "" && !sentText(open).startsWith(repeated, offset));
    if (read.isOver) return "";
    read.length += text.length;
    const more = read.tail + text.slice(repeated.length);
    const shown = more.trimEnd();
    read.tail = more.slice(shown.length);
    return shown;
  }

  /** An item that ended as `incomplete` has the id of the next one. */
  const idAfter = (id: string): string => (moved > 0 ? `${id}_${moved}` : id);

  function begin({ index, id: known }: Place): readonly NewStreamEvent[] {
    const output_index = index + moved;
    const id = known === undefined ? `msg_${taskId}_${read.attempt}` : idAfter(known);
    open = { id, output_index, pieces: [], length: 0 };
    const item = { id, type: "message", role: "assistant", status: "in_progress", content: [] } as const;
    return [
      { type: "response.output_item.added", output_index, item },
      { type: "response.content_part.added", ...position(open), part: textPart("") },
    ];
  }

  function end(): void {
    open = null;
    read.isOver = true;
  }

  function close(item: OpenItem): readonly StreamEvent[] {
    const text = sentText(item);
    const { id, output_index } = item;
    const done = {
      id,
      type: "message",
      role: "assistant",
      status: "incomplete",
      content: [textPart(text)],
    } as const;
    end();
    moved += 1;
    return numbered([
      { type: "response.output_text.done", ...position(item), text, logprobs: [] },
      { type: "response.content_part.done", ...position(item), part: textPart(text) },
      { type: "response.output_item.done", output_index, item: done },
    ]);
  }

  /** The SDK refuses the end of an unfinished turn whose messages have other ids than their items. */
  const renamed = (event: StreamEvent): StreamEvent =>
    event.type === "response.incomplete" || event.type === "response.failed"
      ? {
          ...event,
          response: {
            ...event.response,
            output: event.response.output.map((each) => ({ ...each, id: sentAs.get(each.id) ?? each.id })),
          },
        }
      : event;

  function move(event: StreamEvent): StreamEvent {
    if (moved === 0 || !("output_index" in event)) return event;
    const output_index = event.output_index + moved;
    if (!namesItems) return { ...event, output_index };
    if (!("item" in event)) return { ...event, output_index, item_id: idAfter(event.item_id) };
    sentAs.set(event.item.id, idAfter(event.item.id));
    return { ...event, output_index, item: { ...event.item, id: idAfter(event.item.id) } };
  }

  /**
   * Ends the open item with the message among the events, or as `incomplete` before another message or the
   * end of the turn.
   */
  function endItem(item: OpenItem, events: readonly StreamEvent[]): readonly StreamEvent[] {
    const message = events.flatMap((event) =>
      event.type === "response.output_item.done" ? [event.item] : [],
    )[0];
    const [first] = message?.role === "assistant" ? message.content : [];
    if (message && first?.type === "output_text" && first.text.startsWith(sentText(item))) {
      sentAs.set(message.id, item.id);
      end();
      return events.flatMap((event) => continued(event, item));
    }
    return message || events.some(isEnding) ? [...close(item), ...events.map(move)] : events.map(move);
  }

  return {
    add(delta) {
      const next = place();
      // Between turns nothing is written.
      if (delta.type !== TaskEventType.ASSISTANT_MESSAGE || next === null) return [];
      const more = readPart(delta);
      if (more === "") return [];
      const begun = open ? [] : begin(next);
      const item = open;
      if (!item) return [];
      item.pieces.push(more);
      item.length += more.length;
      return numbered([
        ...begun,
        { type: "response.output_text.delta", ...position(item), delta: more, logprobs: [] },
      ]);
    },
    merge(events) {
      // The next turn begins with the output of the earlier ones.
      if (events.some(({ type }) => type === "response.created")) moved = 0;
      const sent = open ? endItem(open, events) : events.map(move);
      number = events.at(-1)?.sequence_number ?? number;
      return sent.map(renamed);
    },
  };
}

/** An event of the message of an item that was begun before: nothing of what was sent is sent again. */
function continued(event: StreamEvent, { id, output_index, length }: OpenItem): readonly StreamEvent[] {
  switch (event.type) {
    case "response.output_item.added":
      return [];
    case "response.output_item.done":
      return [{ ...event, output_index, item: { ...event.item, id } }];
    case "response.content_part.added":
      return event.content_index === 0 ? [] : [{ ...event, output_index, item_id: id }];
    case "response.output_text.delta":
      return event.delta.length === length
        ? []
        : [{ ...event, output_index, item_id: id, delta: event.delta.slice(length) }];
    case "response.content_part.done":
    case "response.output_text.annotation.added":
    case "response.output_text.done":
      return [{ ...event, output_index, item_id: id }];
    default:
      return [event];
  }
}

function sentText(item: OpenItem): string {
  item.pieces = [item.pieces.join("")];
  return item.pieces[0] ?? "";
}

const position = ({ id, output_index }: OpenItem) => ({ item_id: id, output_index, content_index: 0 });

const textPart = (text: string) => ({ type: "output_text", text, annotations: [] }) as const;
