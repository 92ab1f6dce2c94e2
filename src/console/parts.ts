import type { FastifyRequest } from "fastify";
import type { Cipher } from "../core/cipher.ts";
import type { Clock } from "../core/clock.ts";
import type { Failure } from "../core/failure.ts";
import type { Ids, Random } from "../core/ids.ts";
import type { Making } from "../core/keys/make-key.ts";
import type { Log } from "../core/log.ts";
import type { CountAttempt } from "../core/sign-in/attempts.ts";
import type { From } from "../core/sign-in/enter.ts";
import type { Store } from "../core/store.ts";
import type { ReadRequest } from "../http/request.ts";
import type { Provider } from "./provider.ts";
import type { Visits } from "./visits.ts";

/** What the pages need of the rest. */
export interface ConsoleParts {
  readonly visits: Visits;
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly cipher: Cipher;
  readonly log: Log;
  readonly countAttempt: CountAttempt;
  readonly readRequest: ReadRequest;
  readonly report: (failure: Failure, requestId: string) => void;
  /** Single sign-on; null: there is none. */
  readonly provider: Provider | null;
}

declare module "fastify" {
  interface FastifyRequest {
    /** What the audit log and refusals say of a request for a page; set at its beginning. */
    from?: From;
  }
}

/** What new rows are made from, now. */
export const makingOf = ({ clock, ids, random }: ConsoleParts): Making => ({ now: clock.now(), ids, random });

/** The request's id and address, the same each time. */
export function fromOf({ readRequest }: Pick<ConsoleParts, "readRequest">, request: FastifyRequest): From {
  const read = () => readRequest(request.raw);
  request.from ??= (({ requestId, address }) => ({ requestId, address }))(read());
  return request.from;
}

/** A parameter of the query that stands there once; empty otherwise. */
export function queryText(request: FastifyRequest, name: string): string {
  // Fastify's own reader of queries gives texts, and lists for what stands twice.
  const value = (request.query as Readonly<Record<string, unknown>>)[name];
  return typeof value === "string" ? value : "";
}
