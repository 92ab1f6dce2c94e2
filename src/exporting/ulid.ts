import { createHash } from "node:crypto";

/** Crockford's base 32. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** What a step's id follows from. */
export interface StepPlace {
  readonly taskId: string;
  readonly seq: number;
  /** Unix milliseconds. */
  readonly timestamp: number;
  /** Which step of the event's, from 0. */
  readonly part: number;
}

/**
 * The ULID of a step: the same in every export, and in one task in the order of its steps. After the
 * time come the event's number, the part, and 40 bits of the task's digest, in place of what is usually random.
 */
export function stepUlid({ taskId, seq, timestamp, part }: StepPlace): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(timestamp, 0, 6);
  bytes.writeUInt32BE(seq, 6);
  bytes.writeUInt8(part, 10);
  createHash("sha256").update(taskId).digest().copy(bytes, 11, 0, 5);
  let [rest, text] = [BigInt(`0x${bytes.toString("hex")}`), ""];
  for (let at = 0; at < 26; at += 1, rest >>= 5n) text = (alphabet[Number(rest & 31n)] ?? "") + text;
  return text;
}
