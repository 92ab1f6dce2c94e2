import type { HistoryUse } from "../../../core/tasks/history.ts";
import type { Earlier } from "../../agent.ts";
import { outlineUse } from "./context.ts";
import type { EarlierPart, EarlierUse, FinishedUse } from "./conversation.ts";

/** The most earlier uses of tools in a conversation. */
const usesMax = 30;

/**
 * The earlier turns for the model: all messages, and the newest uses of tools, with outlines instead of long
 * inputs and results. They are calls of tools like those of this turn, not texts: a model imitates texts
 * instead of using the tool, and results stay data. Uses of tools that the model has no more are left out,
 * and so are the newest ones that a memo has in full.
 *
 * @param stored the uses that the memo has.
 */
export function earlierParts(
  earlier: readonly Earlier[],
  stored: readonly FinishedUse[],
  tools: { readonly has: (name: string) => boolean },
): readonly EarlierPart[] {
  const uses = earlier.filter((entry) => entry.role === "tool" && tools.has(entry.name));
  const recalled = stored.filter(({ tool }) => tools.has(tool)).length;
  const kept = new Set(uses.slice(0, Math.max(0, uses.length - recalled)).slice(-usesMax));
  return earlier.flatMap((entry): EarlierPart[] => {
    if (entry.role !== "tool") return [{ role: entry.role, content: entry.content }];
    return kept.has(entry) ? [toUse(entry)] : [];
  });
}

const toUse = ({ name, arguments: input, result, isError }: HistoryUse): EarlierUse => ({
  role: "tool",
  ...outlineUse({ tool: name, input, result, isError }),
});
