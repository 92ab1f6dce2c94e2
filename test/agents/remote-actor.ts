import type { RunOf, TestWorker } from "../workers/worker-rig.ts";
import type { Act, Gate } from "./script.ts";

/** The members of a run that this worker reads. */
interface AssignedRun extends RunOf {
  readonly events?: readonly { readonly event: { readonly key: string } }[];
  readonly decisions?: readonly { readonly accepted: boolean }[];
}

/** A worker that follows a script; it knows its turns by their order. */
export async function runScript(
  worker: TestWorker,
  turns: readonly (readonly Act[])[],
  gate: Gate,
  gone: AbortSignal,
): Promise<void> {
  let turn = 0;
  for (let run: AssignedRun | undefined; !gone.aborted; ) {
    run ??= await worker.poll({ waitSeconds: 1 });
    if (run === undefined) continue;
    const ended = await workOn(worker, run, turns[turn] ?? [], gate);
    if (ended?.over) turn += 1;
    run = ended?.next;
  }
}

/**
 * Events that are stored already are sent again: the platform recognises them by their keys. Returns
 * undefined when the run was lost.
 */
async function workOn(
  worker: TestWorker,
  run: AssignedRun,
  acts: readonly Act[],
  { opened }: Gate,
): Promise<{ readonly over: boolean; readonly next?: AssignedRun } | undefined> {
  let decided = 0;
  let steps: readonly { readonly title: string; readonly status: string }[] = [];
  const finish = async (outcome: object, over = true) => {
    const { status, body } = await worker.finish(run, outcome);
    return status === 200 ? { over, next: body.run } : undefined;
  };
  for (const [i, act] of acts.entries()) {
    const append = async (...events: readonly object[]) =>
      (
        await worker.append(
          run,
          events.map((event, part) => ({ key: `${i}.${part}`, ...event })),
        )
      ).status === 200;
    const used = (tool: string, status = "success") => ({
      toolUsed: { tool, actionId: `use-${i}`, status, brief: "Used" },
    });
    let accepted = true;
    switch (act.does) {
      case "think":
        accepted = await append({ explanation: { content: act.what } });
        break;
      case "say":
        accepted = await append({ assistantMessage: { content: act.what } });
        break;
      case "use":
        accepted = await append(used(act.what));
        break;
      case "plan":
        steps = act.titles.map((title) => ({ title, status: "todo" }));
        accepted = await append({ planUpdate: { steps } });
        break;
      case "step": {
        const next = steps.findIndex(({ status }) => status === "todo");
        steps = steps.map(({ title, status }, at) => ({
          title,
          status: status === "doing" ? "done" : at === next ? "doing" : status,
        }));
        accepted = await append(
          { planUpdate: { steps } },
          { newPlanStep: { stepId: `step_${next + 1}`, title: steps[next]?.title } },
        );
        break;
      }
      case "file": {
        const content = Buffer.from(act.content).toString("base64");
        const { body } = await worker.call("Upload", {
          taskId: run.taskId,
          fence: run.fence,
          filename: act.filename,
          content,
        });
        accepted = await append(
          { assistantMessage: { content: "Here it is.", uploadIds: [body.uploadId] } },
          used("save_file"),
        );
        break;
      }
      case "confirm": {
        const decision = run.decisions?.[decided];
        if (!decision) return finish({ confirm: { kind: "apiHighCreditNotice" } }, false);
        decided += 1;
        accepted = await append(used("spend_much", decision.accepted ? "success" : "error"));
        break;
      }
      case "pause":
        await opened;
        accepted = await append(used("pause"));
        break;
      case "ask":
        return finish({ ask: { content: act.what, options: ["This one"] } });
      case "fail":
        return finish({ fail: { errorType: "timeout", content: "Too slow." } });
      case "finish": {
        const open = steps.some(({ status }) => status === "doing");
        const closed = steps.map(({ title, status }) => ({
          title,
          status: status === "doing" ? "done" : status,
        }));
        if (open) await append({ planUpdate: { steps: closed } });
        return finish({
          finish: { content: act.what, ...(act.output === undefined ? {} : { output: act.output }) },
        });
      }
    }
    if (!accepted) return undefined;
  }
  throw new Error("the script's turn has no end");
}
