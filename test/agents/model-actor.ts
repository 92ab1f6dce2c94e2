import type { Json } from "../../src/core/json.ts";
import type { NewFile } from "../../src/runtime/agent.ts";
import type { Tool } from "../../src/runtime/agents/model/tool.ts";
import { askUser, echo } from "../runtime/model/model-run.ts";
import type { Answering, Reply } from "../support/model/script.ts";
import { waitForGate } from "./offline-actor.ts";
import type { Act, Gate } from "./script.ts";

/** Replies of a model that follows a script. */
export function repliesOf(turns: readonly (readonly Act[])[]): readonly Reply[] {
  const replies: Reply[] = [];
  for (const acts of turns) {
    let step: Answering = {};
    let plan: readonly { readonly title: string; readonly status: string }[] = [];
    const call = (name: string, input: Json) => {
      replies.push({ ...step, calls: [{ name, input }] });
      step = {};
    };
    const show = (steps: typeof plan) => {
      plan = steps;
      call("plan", { steps: plan.map((each) => ({ ...each })) });
    };
    for (const act of acts) {
      if (act.does === "think") step = { ...step, reasoning: act.what };
      else if (act.does === "say") step = { ...step, text: act.what };
      else if (act.does === "plan" || act.does === "step") {
        show(
          act.does === "plan" ? act.titles.map((title) => ({ title, status: "todo" })) : advancePlan(plan),
        );
      } else if (act.does === "finish") {
        // Other agents need not end their plans, and are not reminded.
        if (plan.length > 0) show(advancePlan(plan));
        replies.push({ ...step, text: act.what });
        step = {};
        // The platform requests it separately, and a second time where it does not match the schema.
        if (act.output !== undefined)
          replies.push(...Array.from({ length: 2 }, () => ({ text: JSON.stringify(act.output) })));
      } else if (act.does === "fail") replies.push({ status: 400 });
      else call(...toolCallOf(act));
    }
  }
  return replies;
}

function toolCallOf(
  act: Exclude<Act, { does: "think" | "say" | "plan" | "step" | "fail" | "finish" }>,
): [name: string, input: Json] {
  switch (act.does) {
    case "use":
      return [act.what, { text: "x" }];
    case "file":
      return ["save_file", { filename: act.filename, content: act.content }];
    case "confirm":
      return ["spend_much", {}];
    case "pause":
      return ["pause", {}];
    case "ask":
      return ["ask_user", { question: act.what }];
  }
}

/** Ends the current step and begins the next one. */
function advancePlan(plan: readonly { readonly title: string; readonly status: string }[]) {
  const next = plan.findIndex(({ status }) => status === "todo");
  return plan.map(({ title, status }, i) => ({
    title,
    status: status === "doing" ? "done" : i === next ? "doing" : status,
  }));
}

/** The tools that a script needs. */
export const toolsOf = (current: () => Gate): readonly Tool[] => [
  echo(),
  askUser,
  saveFile,
  spendMuch,
  pause(current),
];

const saveFile: Tool = {
  name: "save_file",
  description: "Hands a file over.",
  inputSchema: {
    type: "object",
    properties: { filename: { type: "string" }, content: { type: "string" } },
    required: ["filename", "content"],
  },
  repeats: true,
  brief: () => "Hand over",
  async use({ input }) {
    const file: NewFile = {
      filename: String(input["filename"]),
      content: [Buffer.from(String(input["content"]))],
    };
    return { kind: "result", value: "Handed over.", files: [file] };
  },
};

/** A tool that acts only with an approval. */
const spendMuch: Tool = {
  name: "spend_much",
  description: "Does what is dear.",
  inputSchema: { type: "object", properties: {} },
  repeats: true,
  brief: () => "Spend",
  async use({ decisions: [decision] }) {
    if (!decision)
      return {
        kind: "end",
        outcome: { kind: "confirm", action: "apiHighCreditNotice", variant: "", params: { credits: 5 } },
      };
    return decision.accepted
      ? { kind: "result", value: "Spent." }
      : { kind: "result", value: "Not approved.", isError: true };
  },
};

const pause = (current: () => Gate): Tool => ({
  name: "pause",
  description: "Waits.",
  inputSchema: { type: "object", properties: {} },
  repeats: true,
  brief: () => "Wait",
  async use({ turn }) {
    await waitForGate(current(), turn.signal);
    return { kind: "result", value: "Waited." };
  },
});
