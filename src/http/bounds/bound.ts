import type { DescMethod } from "@bufbuild/protobuf";
import { Failure } from "../../core/failure.ts";
import { type Operation, rpcName } from "../../operations.ts";

/** How large a request may be, and what sets the limit. */
export interface Bound {
  /** Bytes after decompression; of a stream, the bytes of one message. */
  readonly maxBytes: number;
  /** What the limit belongs to, for instance `task.list`. */
  readonly of: string;
}

/** The largest request to an address that takes no credential (contract/decisions.md 21). */
export const anonymousBytes = 65_536;

/** The bound of an operation: what it states, or BODY_LIMIT where that is less. */
export const boundOf = ({ maxRequestBytes, name, rpc }: Operation, bodyLimit: number): Bound => ({
  maxBytes: Math.min(maxRequestBytes, bodyLimit),
  of: name ?? rpc,
});

/** The bound of a method that is no operation and takes no credential: health and reflection. */
export const anonymousBound = (method: DescMethod): Bound => ({ maxBytes: anonymousBytes, of: rpcName(method) });

/** The refusal of a body, or of a message in one, that is larger than its bound. */
export const tooLarge = ({ maxBytes, of }: Bound, what: "body" | "message" = "body"): Failure =>
  new Failure("too_large", `the ${what} is larger than ${maxBytes} bytes, the limit of ${of}`);
