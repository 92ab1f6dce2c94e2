import { invalidArgument } from "../failure.ts";
import type { JsonObject } from "../json.ts";

/**
 * What the caller of the Responses API sent with a message. It holds until the next message (spec/v1.md 7.2).
 */
export interface TurnRequest {
  /** Applies to the turn together with the project's instruction; empty for none. */
  readonly instruction: string;
  /** Members of the request that the response repeats. */
  readonly echo: JsonObject;
}

const echoBytesMax = 262_144;

/** @throws Failure `invalid_argument` for members that are too large to be kept. */
export function checkTurnRequest({ echo }: TurnRequest): void {
  if (Buffer.byteLength(JSON.stringify(echo)) > echoBytesMax)
    throw invalidArgument("turn.echo", `must be at most ${echoBytesMax} bytes as JSON`);
}

/** The instructions that apply to a turn, the project's first. */
export const joinInstructions = (...instructions: readonly string[]): string =>
  instructions.filter((each) => each !== "").join("\n\n");
