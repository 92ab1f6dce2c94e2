import { Failure } from "../../../core/failure.ts";
import type { WaitMode } from "../../../core/tasks/subtask-wait.ts";
import { depthMax } from "../../../core/tasks/subtasks.ts";
import type { Outcome, Progress } from "../../agent.ts";
import { fileOf, type RunState, toolUse } from "./run.ts";
import { shorten } from "./text.ts";

const tooDeep = { status: "error", brief: `Subtasks are at most ${depthMax} deep` } as const;

/** The event of a subtask that begins, or of the failure to begin it. */
export async function startSubtask(message: string, { nextActionId, turn }: RunState): Promise<Progress> {
  const use = { tool: "subtask", actionId: nextActionId(), params: { message } };
  if (!turn.subtask) return toolUse({ ...use, ...tooDeep });
  try {
    const subtask = await turn.subtask({ message });
    const payload = {
      ...use,
      status: "success",
      brief: "Began a subtask",
      result: { task_id: subtask.id },
    } as const;
    return { events: [{ type: "tool_used", payload, subtask }] };
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.reason === "unavailable") throw thrown;
    return toolUse({ ...use, status: "error", brief: thrown.message });
  }
}

/**
 * Waits for all subtasks that have not ended. The results are the event of the run that continues. `seconds`
 * is empty for a wait without a limit.
 */
export async function waitForSubtasks(
  mode: WaitMode,
  seconds: string,
  work: RunState,
): Promise<Progress | Outcome> {
  const use = { tool: "wait_for_subtasks", actionId: work.nextActionId(), params: { mode } };
  if (!work.turn.waitFor) return toolUse({ ...use, ...tooDeep });
  const wait = await work.turn.waitFor({
    mode,
    ...(seconds !== "" && { timeoutMs: Number(seconds) * 1000 }),
  });
  if ("kind" in wait) return wait;
  work.waited += 1;
  const subtasks = wait.subtasks.map(({ id, title, status, lastMessage }) => ({
    task_id: id,
    title,
    status,
    said: shorten(lastMessage),
  }));
  return toolUse({
    ...use,
    status: "success",
    brief: "Waited for subtasks",
    result: { reason: wait.reason, subtasks },
  });
}

/** The event that saves a website of one page. */
export function saveSite(title: string, html: string, { nextActionId }: RunState): Progress {
  const use = {
    tool: "save_site",
    actionId: nextActionId(),
    status: "success",
    brief: `Saved the website ${title}`,
  } as const;
  const site = {
    title,
    message: `Saved ${title}`,
    files: [{ path: "index.html", file: fileOf(["index.html", html]) }],
  };
  return {
    events: [{ type: "tool_used", payload: { ...use, message: { action: "Saving", param: title } }, site }],
  };
}
