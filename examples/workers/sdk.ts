// An agent by the worker SDK of packages/client. It follows the first word of the message, as `./atp
// worker-check` expects. ATP_URL=http://localhost:8080 WORKER_KEY=wk-… node examples/workers/sdk.ts
import { setTimeout as sleep } from "node:timers/promises";
import { createWorker, type Turn, TurnFailure } from "../../packages/client/src/worker.ts";

const { ATP_URL = "http://localhost:8080", PROFILES = "" } = process.env;

await createWorker({ baseUrl: ATP_URL }).run(PROFILES.split(","), async (turn) => {
  const [word, rest] = cut(turn.text);
  const [first, second] = cut(rest);
  switch (word) {
    case "ask":
      return `you said ${await turn.ask(rest)}`;
    case "confirm": {
      const { accepted } = await turn.confirm(first as "terminalExecute", { params: { text: second } });
      return `${accepted ? "accepted" : "refused"} ${second}`;
    }
    case "file":
      return { content: `here is ${first}`, uploadIds: [await turn.upload(first, second)] };
    case "fail":
      throw new TurnFailure("internal", rest);
    case "sleep":
      await sleep(Number(rest) * 1000, undefined, { signal: turn.signal });
      return `slept ${rest}`;
    case "work":
    case "slow":
      await steps(turn, Number(rest), word === "slow" ? 1000 : 0);
      return `did ${rest} steps`;
    default: {
      const answer = word === "echo" ? rest : turn.text;
      for (const piece of answer.split(/(?<= )/)) turn.write(piece); // word by word, as a model writes
      return answer;
    }
  }
});

/** The first word, and the rest. */
function cut(text: string): readonly [string, string] {
  const at = text.indexOf(" ");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Writes a plan, a tool and progress. Keys depend on the step only, and `once` skips the steps of a lost run.
 */
async function steps(turn: Turn, count: number, ms: number): Promise<void> {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  for (const step of all) {
    await turn.plan(
      `step-${step}.plan`,
      all.map((n) => ({ title: `Step ${n}`, status: n <= step ? "done" : "todo" })),
    );
    await turn.once(`step-${step}.tool`, { tool: "counter", brief: `Counted to ${step}` }, async () => {
      await sleep(ms, undefined, { signal: turn.signal });
      return step;
    });
    await turn.say(`step-${step}`, `step ${step} of ${count}`);
  }
}
