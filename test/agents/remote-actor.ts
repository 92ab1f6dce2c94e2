import type { Hand, RunOf } from "../workers/worker-rig.ts";
import type { Act, Gate } from "./script.ts";

/** A run as far as this worker looks at it. */
interface GivenRun extends RunOf {
  readonly events?: readonly { readonly event: { readonly key: string } }[];
  readonly decisions?: readonly { readonly accepted: boolean }[];
}

/** A worker that does as a script has it; it knows its turns by their order. */
export async function work(hand: Hand, turns: readonly (readonly Act[])[], gate: Gate, gone: AbortSignal): Promise<void> {
  let turn = 0;
  for (let run: GivenRun | undefined; !gone.aborted; ) {
    run ??= await hand.poll({ waitSeconds: 1 });
    if (run === undefined) continue;
    const ended = await workOn(hand, run, turns[turn] ?? [], gate);
    if (ended?.over) turn += 1;
    run = ended?.next;
  }
}

/** Events that are there already are sent once more: the platform knows them by their keys. Undefined when the run was lost. */
async function workOn(
  hand: Hand,
  run: GivenRun,
  acts: readonly Act[],
  { opened }: Gate,
): Promise<{ readonly over: boolean; readonly next?: GivenRun } | undefined> {
  let decided = 0;
  let steps: readonly { readonly title: string; readonly status: string }[] = [];
  const finish = async (outcome: object, over = true) => {
    const { status, body } = await hand.finish(run, outcome);
    return status === 200 ? { over, next: body.run } : undefined;
  };
  for (const [i, act] of acts.entries()) {
    const tell = async (...events: readonly object[]) =>
      (
        await hand.append(
          run,
          events.map((event, part) => ({ key: `${i}.${part}`, ...event })),
        )
      ).status === 200;
    const used = (tool: string, status = "success") => ({ toolUsed: { tool, actionId: `use-${i}`, status, brief: "Used" } });
    let told = true;
    switch (act.does) {
      case "think":
        told = await tell({ explanation: { content: act.what } });
        break;
      case "say":
        told = await tell({ assistantMessage: { content: act.what } });
        break;
      case "use":
        told = await tell(used(act.what));
        break;
      case "plan":
        steps = act.titles.map((title) => ({ title, status: "todo" }));
        told = await tell({ planUpdate: { steps } });
        break;
      case "step": {
        const next = steps.findIndex(({ status }) => status === "todo");
        steps = steps.map(({ title, status }, at) => ({ title, status: status === "doing" ? "done" : at === next ? "doing" : status }));
        told = await tell({ planUpdate: { steps } }, { newPlanStep: { stepId: `step_${next + 1}`, title: steps[next]?.title } });
        break;
      }
      case "file": {
        const content = Buffer.from(act.content).toString("base64");
        const { body } = await hand.call("Upload", { taskId: run.taskId, fence: run.fence, filename: act.filename, content });
        told = await tell({ assistantMessage: { content: "Here it is.", uploadIds: [body.uploadId] } }, used("save_file"));
        break;
      }
      case "confirm": {
        const decision = run.decisions?.[decided];
        if (!decision) return finish({ confirm: { kind: "apiHighCreditNotice" } }, false);
        decided += 1;
        told = await tell(used("spend_much", decision.accepted ? "success" : "error"));
        break;
      }
      case "pause":
        await opened;
        told = await tell(used("pause"));
        break;
      case "ask":
        return finish({ ask: { content: act.what, options: ["This one"] } });
      case "fail":
        return finish({ fail: { errorType: "timeout", content: "Too slow." } });
      case "finish": {
        const open = steps.some(({ status }) => status === "doing");
        const closed = steps.map(({ title, status }) => ({ title, status: status === "doing" ? "done" : status }));
        if (open) await tell({ planUpdate: { steps: closed } });
        return finish({ finish: { content: act.what, ...(act.output === undefined ? {} : { output: act.output }) } });
      }
    }
    if (!told) return undefined;
  }
  throw new Error("a turn has an end");
}
