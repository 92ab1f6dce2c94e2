import type { PlanStep, WatchEvent } from "../../packages/client/src/index.ts";
import type { Style } from "../frame/style.ts";
import { clean, oneLine, wrap } from "../frame/text.ts";
import type { LiveArea, LiveLine } from "./live-area.ts";
import type { View } from "./view.ts";
import { toolText, wordsOf } from "./words.ts";

const marks: Readonly<Record<PlanStep["status"], string>> = { todo: "○", doing: "◐", done: "✔", failed: "✘" };
const barColumns = 20;
/** The most steps of a plan that are shown at once. */
const stepsShown = 8;

/**
 * A task on a terminal. Messages and uses of tools are printed once. Below them the plan, the text that is
 * being written and the state are drawn again with each event.
 */
export function liveView(area: LiveArea, style: Style): View {
  let steps: readonly PlanStep[] = [];
  let writing = "";
  let state = "";
  const colours: Readonly<Record<PlanStep["status"], (text: string) => string>> = {
    todo: style.dim,
    doing: style.yellow,
    done: style.green,
    failed: style.red,
  };

  function planLines(): readonly LiveLine[] {
    if (steps.length === 0) return [];
    const done = steps.filter(({ status }) => status === "done").length;
    const filled = Math.round((done / steps.length) * barColumns);
    const bar = `${"━".repeat(filled)}${"─".repeat(barColumns - filled)} ${done} of ${steps.length}`;
    const current = Math.max(
      0,
      steps.findIndex(({ status }) => status === "doing" || status === "todo"),
    );
    const first = Math.max(0, Math.min(current - 2, steps.length - stepsShown));
    const shown = steps.slice(first, first + stepsShown);
    return [
      { text: "" },
      { text: `Plan ${bar}`, colour: style.bold },
      ...(first > 0 ? [{ text: `  … ${first} before`, colour: style.dim }] : []),
      ...shown.map(({ status, title }) => ({
        text: `  ${marks[status]} ${oneLine(title)}`,
        colour: colours[status],
      })),
      ...(first + stepsShown < steps.length
        ? [{ text: `  … ${steps.length - first - stepsShown} more`, colour: style.dim }]
        : []),
    ];
  }

  /** The end of the text that is being written. */
  function writingLines(room: number): readonly LiveLine[] {
    if (writing === "") return [];
    const lines = wrap(clean(writing), area.columns() - 3);
    return [{ text: "" }, ...lines.slice(-Math.max(1, room)).map((text) => ({ text: `  ${text}` }))];
  }

  function draw(): void {
    const plan = planLines();
    const status: readonly LiveLine[] =
      state === "" ? [] : [{ text: "" }, { text: state, colour: style.dim }];
    const room = area.rows() - plan.length - status.length - 3;
    area.draw([...writingLines(room), ...plan, ...status]);
  }

  const paragraph = (text: string, indent = "  ") =>
    wrap(text, area.columns() - indent.length - 1).map((line) => `${indent}${line}`);

  function print(event: Exclude<WatchEvent, { type: "text_delta" }>): void {
    const words = wordsOf(event);
    if (!words) return;
    switch (event.type) {
      case "user_message":
        area.print([
          "",
          ...paragraph(words.text, "› ").map((line, at) =>
            style.bold(at === 0 ? line : `  ${line.slice(2)}`),
          ),
        ]);
        return;
      case "assistant_message":
      case "structured_output_result":
        area.print(["", ...paragraph(words.text)]);
        return;
      case "explanation":
        area.print(paragraph(words.text, "  · ").map(style.dim));
        return;
      case "tool_used": {
        const { status } = event.tool_used;
        const colour = status === "success" ? style.green : status === "error" ? style.red : style.yellow;
        const [mark, text] = [status === "error" ? "✘" : "•", toolText(event.tool_used)];
        area.print([`  ${colour(mark)} ${wrap(text, area.columns() - 6)[0] ?? ""}`]);
        return;
      }
      case "error_message":
        area.print(["", ...paragraph(words.text, "✘ ").map(style.red)]);
        return;
      default:
        return;
    }
  }

  return {
    show(event) {
      if (event.type === "text_delta") writing = event.text;
      else {
        if (event.type === "plan_update") steps = event.plan_update.steps;
        if (event.type === "status_update")
          state = `${event.status_update.agent_status}: ${oneLine(event.status_update.brief)}`;
        if (
          event.type === "assistant_message" ||
          event.type === "explanation" ||
          event.type === "status_update"
        )
          writing = "";
        print(event);
      }
      draw();
    },
    read() {
      area.print([style.dim("  ✔ The agent has read your message")]);
      draw();
    },
    pause() {
      writing = "";
      area.draw([]);
    },
    end({ status, outcome, brief, credit_usage: creditUsage }) {
      writing = "";
      state = "";
      const plan = planLines();
      steps = [];
      area.draw([]);
      const colour = outcome === "finished" ? style.green : status === "waiting" ? style.yellow : style.red;
      const used = creditUsage === undefined ? "" : style.dim(`, ${creditUsage} credits`);
      area.print([
        ...plan.map(({ text, colour: paint = style.dim }) => paint(text)),
        "",
        `${colour(outcome ?? status)}: ${oneLine(brief ?? "")}${used}`,
      ]);
    },
  };
}
