// The agent itself: put your own in its place. This one obeys the first word of what was said, as `npm run worker-check` asks it to.

/** As much of `worker.v1.Run` as is used here; JSON leaves out what is empty. */
export interface Turn {
  readonly taskId: string;
  readonly fence: number;
  readonly leaseSeconds: number;
  readonly messages: readonly { readonly content: string }[];
  readonly events?: readonly { readonly event: { readonly key?: string } }[];
  readonly decisions?: readonly { readonly accepted?: boolean }[];
  readonly memo?: unknown;
}

/** What the agent may do in its turn. */
export interface Run {
  append(...events: object[]): Promise<void>;
  /** Answers the id to show the file by. */
  upload(filename: string, text: string): Promise<string>;
  /** Throws when the run is over before. */
  pause(ms: number): Promise<void>;
}

/** One turn, and how it ends: finish, ask, confirm or fail, as worker.v1 has them. */
export async function work(turn: Turn, run: Run): Promise<object> {
  const said = turn.messages.map(({ content }) => content).join("\n");
  if (turn.memo !== undefined) return finish(`you said ${said}`); // this is the answer to a question
  const [word, rest] = cut(said);
  const [first, second] = cut(rest);
  if (word === "ask") return { ask: { content: rest, memo: "asked" } };
  if (word === "confirm") {
    const [decision] = turn.decisions ?? [];
    if (!decision) return { confirm: { kind: first, params: { text: second } } };
    return finish(`${decision.accepted ? "accepted" : "refused"} ${second}`); // the same turn has come back with the decision
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
  return finish(word === "echo" ? rest : said);
}

const finish = (content: string, uploadIds: readonly string[] = []) => ({ finish: { content, uploadIds } });

/** The first word, and what stands behind it. */
function cut(text: string): readonly [string, string] {
  const at = text.indexOf(" ");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** A plan, a tool and progress. Keys follow from the step alone: whoever goes on behind a lost run says nothing twice. */
async function steps(turn: Turn, run: Run, count: number, ms: number): Promise<void> {
  const written = new Set(turn.events?.map(({ event }) => event.key));
  const all = Array.from({ length: count }, (_, i) => i + 1);
  for (const step of all.filter((n) => !written.has(`step-${n}`))) {
    const plan = all.map((n) => ({ title: `Step ${n}`, status: n <= step ? "done" : "todo" }));
    await run.append(
      { key: `step-${step}.plan`, planUpdate: { steps: plan } },
      { key: `step-${step}.tool`, toolUsed: { tool: "counter", status: "success", brief: `Counted to ${step}` } },
      { key: `step-${step}`, assistantMessage: { content: `step ${step} of ${count}` } },
    );
    await run.pause(ms);
  }
}
