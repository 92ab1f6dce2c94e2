import { keyInHeader } from "../../call/credential.ts";
import { Failure } from "../../core/failure.ts";
import { TaskService } from "../../gen/proto/task/v2/task_service_pb.ts";
import type { Invoke } from "../v1/route.ts";
import { headerOf } from "../v1/serve.ts";
import { applyPreference, type Call, preferenceOf } from "../wire/wire.ts";
import { type Form, forms } from "./response.ts";

/** The longest hold that a create asks for, in seconds; WAIT_SECONDS limits it further. */
const holdSecondsMax = 60;

/** The form of callers that do not prefer one. */
export interface FormRule {
  /** `auto`: OpenAI's for a key by `Authorization: Bearer`, the platform's for a key in another header. */
  readonly responsesStatus: Form | "auto";
}

/** The form of the answers to this call (spec/v1.md 7.3). */
export function chooseForm(call: Call, { responsesStatus }: FormRule): Form {
  const wanted = forms.find((form) => form === preferenceOf(call, "status"));
  if (wanted !== undefined) applyPreference(call, `status=${wanted}`);
  const byCredential = keyInHeader(headerOf(call.request.raw)) === undefined ? "openai" : "platform";
  return wanted ?? (responsesStatus === "auto" ? byCredential : responsesStatus);
}

/** What decides whether a create is held. */
interface HoldInput {
  readonly background?: boolean | undefined;
  readonly stream: boolean;
}

/** For how many seconds the caller wants a create to be held: by default it is answered at once (spec/v1.md 7.2). */
export function chooseHold(call: Call, { background, stream }: HoldInput): number {
  if (stream || background === true) return 0;
  const wait = preferenceOf(call, "wait");
  if (wait === undefined || !/^\d{1,9}$/.test(wait)) return background === false ? holdSecondsMax : 0;
  applyPreference(call, `wait=${wait}`);
  return Math.min(Number(wait), holdSecondsMax);
}

/** Waits while the task runs. */
export async function hold(ask: Invoke, taskId: string, waitSeconds: number): Promise<void> {
  if (waitSeconds === 0) return;
  try {
    await ask(TaskService.method.getTask, { taskId, waitSeconds });
  } catch (thrown) {
    // The response exists: a client that repeats a refused call would create a second one.
    if (!(thrown instanceof Failure) || thrown.reason !== "resource_exhausted") throw thrown;
  }
}
