import { defined } from "../../core/defined.ts";
import type { Failure } from "../../core/failure.ts";
import type { WireName } from "../../pipeline/observation.ts";
import { callHeaders, refusalHeaders, setHeaders, warningHeaders } from "../answer-headers.ts";
import { failureOfError, v2Answers } from "../failure.ts";
import type { ReadRequest } from "../request.ts";
import type { Warnings } from "../warnings/warnings.ts";
import { type Call, sendJson, type Wire, wire } from "../wire/wire.ts";

export interface RefusalParts {
  readonly readRequest: ReadRequest;
  readonly report: (failure: Failure, requestId: string) => void;
  /** The URL below which each failure has its page (`sign-in-pages/error-pages.ts`). */
  readonly errorPages: string;
}

/** Creates the wire of calls whose refusals have v2's envelope. */
export const v2Wire = ({ readRequest, report, errorPages }: RefusalParts, name: WireName = "v2"): Wire =>
  wire({ name, readHead: readRequest, failureIn: failureOfError, report, refuse: refuseV2(errorPages) });

/** Answers a failure in the envelope. */
export const refuseV2 =
  (errorPages: string) =>
  async ({ reply, head: { requestId, isStrict }, warnings }: Call, failure: Failure): Promise<void> => {
    setHeaders(reply, refusalHeaders(failure));
    if (!warnings.isEmpty) setHeaders(reply, warningHeaders(warnings, isStrict));
    setHeaders(reply, callHeaders(requestId));
    sendJson(
      reply,
      v2Answers[failure.reason].status,
      refusalText(failure, { requestId, errorPages, warnings }),
    );
  };

interface RefusalFacts {
  readonly requestId: string;
  readonly errorPages: string;
  readonly warnings?: Warnings;
}

/** The envelope of a failure (spec/api.md 3.4, 8.88). */
export function refusalText(
  { reason, message, path, mistakes }: Failure,
  { requestId, errorPages, warnings }: RefusalFacts,
): string {
  const details = mistakes.map(({ path: param, rule }) =>
    param === "" ? { message: rule } : { param, message: rule },
  );
  const error = {
    code: v2Answers[reason].code,
    message,
    type: reason,
    ...defined({ param: path }),
    doc_url: `${errorPages}/${reason}`,
    ...(details.length === 0 ? {} : { details }),
  };
  const warned = warnings === undefined || warnings.isEmpty ? {} : { warnings: warnings.texts };
  return JSON.stringify({ ok: false, request_id: requestId, ...warned, error });
}
