import { Failure } from "../../../core/failure.ts";
import type { Tx } from "../../../core/store.ts";
import type { Admission, Request } from "../../../pipeline/admission.ts";
import type { Operation } from "../../../pipeline/operations.ts";
import { entranceOf, type InProcessParts, inProcessClients } from "../../shared/in-process.ts";
import type { Agents } from "../agents.ts";
import { basePath, type ReadHeader, serviceParameters } from "../protocol.ts";
import type { Use } from "../use.ts";
import { type PushEntranceParts, pushUse } from "./push.ts";

/** What all bindings of the protocol share. */
export interface EntranceParts extends InProcessParts, Omit<PushEntranceParts, "store"> {
  readonly store: Tx;
  readonly agents: Agents;
}

/** The entrance of all bindings. */
interface Entrance {
  /**
   * Requests are admitted as calls of this operation and counted apart. The calls of their methods follow.
   */
  readonly entrance: Operation;
  /** Admits the head of a request. @throws Failure */
  admit(head: Request): Promise<Admission>;
  /** The use of a request that was admitted. @throws Failure */
  use(admission: Admission, header: ReadHeader, signal: AbortSignal): Use;
}

export function createEntrance(parts: EntranceParts): Entrance {
  const { admit, agents, clock } = parts;
  const entrance = entranceOf(parts.operations, "a2a", basePath);
  return {
    entrance,
    async admit(head) {
      const admission = await admit(entrance, {
        ...head,
        credentials: { ...head.credentials, session: null },
      });
      const { credential } = admission.caller;
      const isAccepted =
        credential.kind === "token" || (credential.kind === "key" && credential.keyKind === "general");
      if (!isAccepted)
        throw new Failure("permission_denied", "A2A takes a general API key or an access token");
      return admission;
    },
    use(admission, header, signal) {
      const { request, caller } = admission;
      const parameters = serviceParameters(header);
      return {
        ...parameters,
        client: inProcessClients(parts, request, caller)(signal),
        push: pushUse(parts, admission, parameters.hasEvents, signal),
        agents,
        keyId: caller.credential.kind === "key" ? caller.credential.id : "",
        signal,
        sleep: clock.sleep,
      };
    },
  };
}
