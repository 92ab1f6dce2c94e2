import type { DescMethod, Message } from "@bufbuild/protobuf";

/**
 * Fills the fields of an answer that say how the call went: some services have them in their messages, for
 * callers over RPC (contract/enterprise.md 3). Of a repeat they are this call's, as everywhere else.
 */
export function inEnvelope({ output }: DescMethod, answer: Message, requestId: string): Message {
  if (output.field["requestId"] === undefined) return answer;
  return Object.assign(answer, { requestId }, output.field["ok"] === undefined ? {} : { ok: true });
}
