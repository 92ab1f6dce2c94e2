// The agent: replace it with yours. This one follows the first word of the message, as `./atp worker-check`
// expects.

/** The members of `worker.v1.Run` that are used here. JSON leaves out empty ones. */
export interface Turn {
  readonly taskId: string;
  readonly fence: number;
  readonly leaseSeconds: number;
  readonly messages: readonly { readonly content: string }[];
  readonly events?: readonly { readonly event: { readonly key?: string } }[];
  readonly decisions?: readonly { readonly accepted?: boolean }[];
  readonly memo?: unknown;
}

/** What the agent can do in its turn. */
export interface Run {
  append(...events: object[]): Promise<void>;
  /** Shows the answer as far as it is written to people who watch the task. */
  show(answer: string): Promise<void>;
  /** Returns the id that an event shows the file by. */
  upload(filename: string, text: string): Promise<string>;
  /** Throws when the run ends before. */
  pause(ms: number): Promise<void>;
}

/** Works on one turn and returns its ending: finish, ask, confirm or fail of worker.v1. */
export async function work(turn: Turn, run: Run): Promise<object> {
  const text = turn.messages.map(({ content }) => content).join("\n");
  if (turn.memo !== undefined) return finish(`you said ${text}`); // this is the answer to a question
  const [word, rest] = cut(text);
  const [first, second] = cut(rest);
  if (word === "ask") return { ask: { content: rest, memo: "asked" } };
  if (word === "confirm") {
    const [decision] = turn.decisions ?? [];
    if (!decision) return { confirm: { kind: first, params: { text: second } } };
    return finish(`${decision.accepted ? "accepted" : "refused"} ${second}`); // the same turn again, with the decision
  }
  if (word === "file") return finish(`here is ${first}`, [await run.upload(first, second)]);
  if (word === "fail") return { fail: { errorType: "internal", content: rest } };
  if (word === "sleep") {
    await run.pause(Number(rest) * 1000);
    return finish(`slept ${rest}`);
  }
  if (word === "work" || word === "slow") {
    await steps(turn, run, Number(rest), word === "slow" ? 1000 : 0);
    return finish(`did ${rest} steps`);
  }
  const answer = word === "echo" ? rest : text;
  for (const { index } of answer.matchAll(/ |$/g)) await run.show(answer.slice(0, index)); // word by word, as a model writes
  return finish(answer);
}

const finish = (content: string, uploadIds: readonly string[] = []) => ({ finish: { content, uploadIds } });

/** The first word, and the rest. */
function cut(text: string): readonly [string, string] {
  const at = text.indexOf(" ");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Writes a plan, a tool and progress. Keys depend on the step only, so a run that follows a lost one writes
 * no event twice.
 */
async function steps(turn: Turn, run: Run, count: number, ms: number): Promise<void> {
  const written = new Set(turn.events?.map(({ event }) => event.key));
  const all = Array.from({ length: count }, (_, i) => i + 1);
  for (const step of all.filter((n) => !written.has(`step-${n}`))) {
    const plan = all.map((n) => ({ title: `Step ${n}`, status: n <= step ? "done" : "todo" }));
    await run.append(
      { key: `step-${step}.plan`, planUpdate: { steps: plan } },
      {
        key: `step-${step}.tool`,
        toolUsed: { tool: "counter", status: "success", brief: `Counted to ${step}` },
      },
      { key: `step-${step}`, assistantMessage: { content: `step ${step} of ${count}` } },
    );
    await run.pause(ms);
  }
}
