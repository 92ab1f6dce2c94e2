import { createHash } from "node:crypto";
import { shortOf } from "../../../core/ids.ts";
import type { Turn } from "../../agent.ts";

/** Where a use of a tool stands in its turn: the step of the model that asked for it, and its place there, both from 1. */
export interface CallPlace {
  readonly step: number;
  readonly place: number;
}

/** Ids for the uses of a turn: other turns have others, and a turn that is resumed has the same again. */
export function callIds({ taskId, earlier, messages }: Pick<Turn, "taskId" | "earlier" | "messages">): (at: CallPlace) => string {
  const digest = createHash("sha256")
    .update(JSON.stringify([taskId, earlier, messages]))
    .digest();
  const turn = shortOf(digest).slice(0, 14);
  return ({ step, place }) => `${turn}_${step}_${place}`;
}

/** The place that an id of `callIds` tells of; undefined for any other. */
export function placeOf(callId: string): CallPlace | undefined {
  const [, step, place] = /^[^_]+_(\d{1,4})_(\d{1,4})$/.exec(callId) ?? [];
  return step === undefined || place === undefined ? undefined : { step: Number(step), place: Number(place) };
}

/** The same for the model: nine letters and digits, which every API takes (some take nothing longer). */
export const wireId = (nth: number): string => `c${String(nth).padStart(8, "0")}`;
