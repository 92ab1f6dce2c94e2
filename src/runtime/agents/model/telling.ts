import type { NewEvent } from "../../../core/tasks/event.ts";
import type { Piece } from "./answer.ts";

/** From here on a piece is told at the next end of a sentence … */
const enough = 400;
/** … and from here on at the next blank. */
const plenty = 1_600;

const sentenceEnd = /[.!?。！？:;]["”’)\]]?\s|\n/g;

/** Tells an answer while it comes. */
export interface Telling {
  /** The events of what is long enough to be told. */
  take(piece: Piece): readonly NewEvent[];
  /** What is left of the thoughts; what is left of the text is told by what the answer comes to. */
  rest(): readonly NewEvent[];
}

/**
 * Whoever watches sees an answer grow: thoughts, and of a long text what is there of it, are told as explanations,
 * sentence by sentence rather than token by token. They are for streams and verbose lists; the text itself is told
 * once, as a whole, when it is known what it is: progress before tools are used, the result at the end.
 */
export function telling(): Telling {
  let open: Piece["kind"] = "text";
  let held = "";

  function cut(): NewEvent[] {
    const events: NewEvent[] = [];
    for (let at = cutAt(held); at > 0; at = cutAt(held)) {
      events.push(...explained(held.slice(0, at)));
      held = held.slice(at);
    }
    return events;
  }

  const rest = (): readonly NewEvent[] => {
    const left = open === "reasoning" ? explained(held) : [];
    held = "";
    return left;
  };

  return {
    take({ kind, text }) {
      const before = kind === open ? [] : rest();
      open = kind;
      held += text;
      return [...before, ...cut()];
    },
    rest,
  };
}

/** Where a text is long enough to be cut; 0 when it is not. */
function cutAt(text: string): number {
  if (text.length < enough) return 0;
  sentenceEnd.lastIndex = enough - 1;
  const end = sentenceEnd.exec(text);
  if (end && end.index < plenty) return end.index + end[0].length;
  if (text.length < plenty) return 0;
  const blank = text.indexOf(" ", plenty - 1);
  return blank >= 0 ? blank + 1 : text.length < 2 * plenty ? 0 : wholeSymbols(text, 2 * plenty);
}

/** No cut goes through a pair of surrogates. */
const wholeSymbols = (text: string, at: number): number => (/[\ud800-\udbff]/.test(text[at - 1] ?? "") ? at - 1 : at);

const explained = (text: string): NewEvent[] => (text.trim() === "" ? [] : [{ type: "explanation", payload: { content: text.trim() } }]);
