import type { Answering, ModelRequest, Reply } from "../support/model/script.ts";

/** Faults; one replaces every tenth answer. */
const faults: readonly ((answer: Answering) => Reply)[] = [
  () => ({ status: 429, headers: { "retry-after": "1" } }),
  () => ({ status: 500 }),
  (answer) => ({ ...answer, after: "cut" }),
  (answer) => ({ ...answer, after: "garbage" }),
  () => ({ refuse: true }),
  (answer) => ({ ...answer, after: "end" }),
];

/** Plan steps before the answer. */
export const planSteps = 3;

/**
 * A model that plans in three steps and then answers. It repeats the text of the request, so that a repeated
 * event is detected.
 */
export function faultyModel(): {
  readonly script: (request: ModelRequest) => Reply;
  readonly faults: () => number;
} {
  let count = 0;
  return {
    faults: () => count,
    script(request) {
      const answer = answerTo(request);
      if (request.nth % 10 !== 0) return answer;
      count += 1;
      return faults[count % faults.length]?.(answer) ?? answer;
    },
  };
}

function answerTo({ messages }: ModelRequest): Answering {
  const lastQuestion = messages.findLastIndex(({ role }) => role === "user");
  const tag = messages[lastQuestion]?.text ?? "";
  const step = messages.slice(lastQuestion + 1).filter(({ role }) => role === "tool").length;
  if (step >= planSteps) return { text: ["It is ", `${tag} that is done.`] };
  const plan = {
    steps: Array.from({ length: planSteps }, (_, i) => ({
      title: `Step ${i}`,
      // The last one has no open step: the model would be reminded.
      status: i < step || step === planSteps - 1 ? "done" : i === step ? "doing" : "todo",
    })),
  };
  return {
    reasoning: `${tag} thinks ${step}`,
    text: [`${tag} `, `says ${step}`],
    calls: [{ name: "plan", input: plan }],
  };
}
