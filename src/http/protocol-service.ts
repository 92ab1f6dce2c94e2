import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import type { Failure } from "../core/failure.ts";
import type { Admission, Request } from "../pipeline/admission.ts";
import type { Operation } from "../pipeline/operations.ts";
import type { ErrorInfo } from "./failure.ts";

interface ProtocolCall {
  readonly admission: Admission;
  /** Reads a header by its lower-case name. */
  readonly header: (name: string) => string | null;
  readonly signal: AbortSignal;
}

/**
 * A service of another protocol that calls operations: it is served by Connect, gRPC and gRPC-Web in addition
 * to the operations.
 */
export interface ProtocolService {
  readonly service: DescService;
  /** What its calls count as in metrics and the log. */
  readonly entrance: Operation;
  /** The largest message in bytes. */
  readonly maxBytes: number;
  /** @throws Failure */
  admit(request: Request): Promise<Admission>;
  unary(method: DescMethod, message: Message, call: ProtocolCall): Promise<Message>;
  stream(method: DescMethod, message: Message, call: ProtocolCall): AsyncIterable<Message>;
  failureIn(thrown: unknown): Failure;
  /** What its errors have as `google.rpc.ErrorInfo`. */
  infoOf(failure: Failure, requestId: string): ErrorInfo;
}
