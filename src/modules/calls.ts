import { inNetworks } from "../config/telemetry.ts";
import type { Refusals } from "../core/audit/refusals.ts";
import type { Failure } from "../core/failure.ts";
import type { KeyUses } from "../core/keys/api-keys.ts";
import { createAccessTokenReader } from "../core/oauth/access-tokens.ts";
import type { SigningKeys } from "../core/oauth/signing-key.ts";
import { requestReader } from "../http/request.ts";
import { createAdmit } from "../pipeline/admit.ts";
import { auditWriter, refusalNoter } from "../pipeline/audit.ts";
import { createIdentify } from "../pipeline/credential.ts";
import type { HandlerTable } from "../pipeline/handlers.ts";
import { idempotencyRecords } from "../pipeline/idempotency.ts";
import { limits } from "../pipeline/limit.ts";
import { operationTable } from "../pipeline/operations.ts";
import { type Performer, performer } from "../pipeline/perform.ts";
import { services } from "../pipeline/services.ts";
import { errorPagesPath } from "../sign-in-pages/error-pages.ts";
import { callObserver } from "./observing.ts";
import type { ProcessContext } from "./process-context.ts";

/** The latest uses of credentials, which a timed job writes. */
export type Uses = Readonly<Record<"keys" | "workers" | "sessions", KeyUses>>;

/** What every wire needs of the call path. */
export type Calls = ReturnType<typeof createCalls>;

interface CallParts {
  readonly uses: Uses;
  readonly keys: SigningKeys;
  readonly refusals: Refusals;
}

export function createCalls(context: ProcessContext, { uses, keys, refusals }: CallParts) {
  const { config, store, cipher, clock, ids, test } = context;
  const callLimits = limits(store.counters, clock, config.rateFactor);
  const readRequest = requestReader(
    ids.request,
    config.trustProxy,
    callObserver(context),
    inNetworks(config.traceTrust),
  );
  const readToken = createAccessTokenReader(keys, config.baseUrl);
  const noteRefusal = refusalNoter(refusals);
  const admit = createAdmit(
    createIdentify(store, clock, readToken, uses, config),
    callLimits,
    noteRefusal,
    uses.sessions,
  );
  const records = idempotencyRecords(cipher, clock.now);
  const writeAudit = auditWriter(clock, ids);
  return {
    keys,
    readToken,
    writeAudit,
    limits: callLimits,
    anonymous: callLimits.anonymous,
    readRequest: test?.read(readRequest) ?? readRequest,
    report: reporter(context),
    errorPages: `${config.consentUrl}${errorPagesPath}`,
    operations: operationTable(test && [...services, ...test.services]),
    admit: test?.admit(admit) ?? admit,
    performWith: (table: HandlerTable): Performer =>
      performer(store, table, records, { write: writeAudit, noteRefusal }),
  };
}

/** Logs the cause of internal failures, which callers must not see. */
const reporter =
  ({ log }: ProcessContext) =>
  (failure: Failure, requestId: string): void => {
    if (failure.reason === "internal") log("error", "a call failed", { requestId, cause: failure.cause });
  };
