import type { Cipher } from "../cipher.ts";
import type { JsonObject } from "../json.ts";
import type { Action } from "./action.ts";

/** Encrypts what was decided: it may hold secrets, and only the agent that asked has a use for it. */
export const sealInput = (cipher: Cipher, action: Place, input: JsonObject): Uint8Array<ArrayBuffer> =>
  cipher.seal(Buffer.from(JSON.stringify(input)), contextOf(action));

/** What was decided; of an action that was allowed before, nothing. */
export function openInput(cipher: Cipher, action: Action): JsonObject {
  if (action.input === null) return {};
  // It was sealed by `sealInput`, of an object.
  return JSON.parse(Buffer.from(cipher.open(action.input, contextOf(action))).toString()) as JsonObject;
}

type Place = Pick<Action, "taskId" | "seq">;

/** Binds it to its place, so that it opens nowhere else. */
const contextOf = ({ taskId, seq }: Place): string => `action ${taskId} ${seq}`;
