import { ApiError } from "../../../packages/client/src/index.ts";
import { Failure, type Reason } from "../../core/failure.ts";

/**
 * What a call or a protocol was refused with: a failure with the code of v2 as its reason; null for any other
 * error.
 */
export function refusalOf(thrown: unknown): Failure | null {
  if (thrown instanceof Failure) return thrown;
  if (!(thrown instanceof ApiError)) return null;
  const { code, message, param, retryAfter } = thrown;
  // The codes of v2 are reasons.
  return new Failure(code as Reason, message, { path: param, retryAfter });
}

/** An answer; undefined for a refusal with this code. */
export async function unless<T>(code: Reason, answer: PromiseLike<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (thrown) {
    if (refusalOf(thrown)?.reason === code) return undefined;
    throw thrown;
  }
}
