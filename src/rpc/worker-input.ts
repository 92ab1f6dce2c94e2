import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import { type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { inputSchema, isKind, isQuestion, variantsOf } from "../core/actions/kind.ts";
import { invalid } from "../core/failure.ts";
import { type Json, type JsonObject, jsonDigest } from "../core/json.ts";
import type { NewEvent, PlanStep } from "../core/tasks/event.ts";
import type { SentEvent, SentOutcome } from "../core/workers/remote-run.ts";
import { type Event, EventSchema, type PlanStep as StepMessage, type ToolUsed } from "../gen/proto/worker/v1/event_pb.ts";
import type { Confirm, FinishRequest } from "../gen/proto/worker/v1/worker_service_pb.ts";

const kibibyte = 1024;
/** Bytes of what a tool was given or gave, and of a memo, as JSON. */
const detailMax = 64 * kibibyte;
const outputMax = 256 * kibibyte;

/** An event as a worker sent it. @throws Failure `invalid` for one without a payload, or beyond its bounds. */
export function sentEvent(event: Event, index: number): SentEvent {
  const { key, payload } = event;
  const path = `events[${index}]`;
  const uploadIds = payload.case === "assistantMessage" ? payload.value.uploadIds : [];
  const site = payload.case === "toolUsed" ? sentSite(payload.value, `${path}.tool_used`) : {};
  return { key, digest: digestOf(EventSchema, event), event: newEvent(event, path), uploadIds, ...site };
}

function sentSite({ site, status }: ToolUsed, path: string): Pick<SentEvent, "site"> {
  if (site === undefined) return {};
  const at = `${path}.site`;
  if (status !== "success") throw invalid(at, "must not come with a use that failed");
  const { title, message, uploadId } = site;
  return { site: { at, title, message, uploadId } };
}

function newEvent({ key, payload }: Event, path: string): NewEvent {
  switch (payload.case) {
    case "assistantMessage":
      return { type: "assistant_message", payload: { content: payload.value.content, deliveryKind: "progress" } };
    case "planUpdate":
      return { type: "plan_update", payload: { steps: payload.value.steps.map(planStep) } };
    case "newPlanStep":
      return { type: "new_plan_step", payload: { stepId: payload.value.stepId, title: payload.value.title } };
    case "toolUsed":
      return { type: "tool_used", payload: toolUse(payload.value, key, `${path}.tool_used`) };
    case "explanation":
      return { type: "explanation", payload: { content: payload.value.content } };
    case undefined:
      throw invalid(path, "must say what happened");
  }
}

function toolUse({ tool, actionId, status, brief, description, message, params, result }: ToolUsed, key: string, path: string) {
  return {
    ...{ tool, brief, actionId: actionId || key },
    status: status === "error" ? ("error" as const) : ("success" as const),
    ...(description === undefined ? {} : { description }),
    ...(message ? { message: { action: message.action, param: message.param } } : {}),
    ...(params ? { params: bounded(params, detailMax, `${path}.params`) as JsonObject } : {}),
    ...(result ? { result: bounded(jsonOf(result), detailMax, `${path}.result`) } : {}),
  };
}

/** Its rule lets no other status through. */
const planStep = ({ status, title, startedAt, endAt }: StepMessage): PlanStep => ({
  ...{ status: status as PlanStep["status"], title },
  ...(startedAt === undefined ? {} : { startedAt: Number(startedAt) }),
  ...(endAt === undefined ? {} : { endAt: Number(endAt) }),
});

/** How a worker ends a turn. @throws Failure `invalid` for none, an unknown kind, or what is beyond its bounds. */
export function sentOutcome({ outcome }: FinishRequest): SentOutcome {
  switch (outcome.case) {
    case "finish": {
      const { content, uploadIds, output } = outcome.value;
      const value = output ? { output: bounded(jsonOf(output), outputMax, "finish.output") } : {};
      return { kind: "finish", content, uploadIds, ...value };
    }
    case "ask": {
      const { content, options, memo } = outcome.value;
      return { kind: "ask", content, options, memo: memo ? bounded(jsonOf(memo), detailMax, "ask.memo") : null };
    }
    case "confirm":
      return approval(outcome.value);
    case "fail":
      return { kind: "fail", errorType: outcome.value.errorType, content: outcome.value.content };
    case undefined:
      throw invalid("", "one of finish, ask, confirm and fail is to be set");
  }
}

function approval({ kind, variant: asked, description, params }: Confirm): SentOutcome {
  if (!isKind(kind) || isQuestion(kind)) throw invalid("confirm.kind", "is no kind of what can be approved");
  const variant = asked || (variantsOf(kind)[0] ?? "");
  if (inputSchema(kind, variant) === undefined) throw invalid("confirm.variant", `is none of ${kind}'s`);
  return {
    ...{ kind: "confirm", action: kind, variant },
    ...(description === "" ? {} : { description }),
    ...(params ? { params: bounded(params, detailMax, "confirm.params") as JsonObject } : {}),
  };
}

/** What was sent, in one word: the same for the same message, whatever wire and member order it came by. */
export const digestOf = <D extends DescMessage>(schema: D, message: MessageShape<D>): string => jsonDigest(toJson(schema, message));

const jsonOf = (value: Value): Json => toJson(ValueSchema, value);

function bounded(value: Json, max: number, path: string): Json {
  if (Buffer.byteLength(JSON.stringify(value)) > max) throw invalid(path, `must be at most ${max / kibibyte} KiB as JSON`);
  return value;
}
