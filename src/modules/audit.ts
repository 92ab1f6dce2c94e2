import { poll } from "../async/poll.ts";
import { auditDownloadLinks } from "../core/audit/download-links.ts";
import { type Refusals, refusals } from "../core/audit/refusals.ts";
import { sealer } from "../core/audit/seal.ts";
import { auditHandlers } from "../rpc/audit.ts";
import type { CreateModule } from "./module.ts";
import type { ProcessContext } from "./process-context.ts";

/** With the time of a round, a row is sealed within a second of its commit. */
const sealEveryMs = 900;
/** Other processes rely on this: the refusals of a minute are written shortly after it. */
const refusalsEveryMs = 1_000;
/** The next process seals the rest of a backlog. */
const lastSealMs = 1_000;

/** A process's background work for the audit log. */
export interface Auditing {
  readonly refusals: Refusals;
  /** Call it after the last call: writes the counted refusals and seals rows for at most a second. */
  stop(): Promise<void>;
}

export const createAudit: CreateModule = ({ config, cipher, clock, calls: { operations } }) => {
  const downloadLinks = auditDownloadLinks(cipher, config.baseUrl);
  return {
    handlers: [auditHandlers({ rpcOf: (name) => operations.byName(name)?.rpc, downloadLinks, clock })],
  };
};

export function startAuditing({
  store,
  clock,
  log,
}: Pick<ProcessContext, "store" | "clock" | "log">): Auditing {
  const counted = refusals(store, clock, log);
  const seal = sealer(store, clock);
  const stopping = new AbortController();
  const loops = [
    poll(clock, sealEveryMs, stopping.signal, log, async function sealAuditLog() {
      await seal(stopping.signal);
    }),
    poll(clock, refusalsEveryMs, stopping.signal, log, async function writeRefusals() {
      await counted.write();
    }),
  ];
  async function finish(): Promise<void> {
    await counted.write(true);
    await seal(AbortSignal.timeout(lastSealMs));
  }
  return {
    refusals: counted,
    async stop() {
      stopping.abort();
      await Promise.all(loops);
      await finish().catch((cause: unknown) =>
        log("error", "the end of the audit log was not written", { cause }),
      );
    },
  };
}
