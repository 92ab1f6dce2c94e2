import { type Refusals, refusals } from "../core/audit/refusals.ts";
import { sealer } from "../core/audit/seal.ts";
import { repeat } from "../core/repeat.ts";
import type { Ground } from "./ground.ts";

/** With what a round takes, a row is sealed within a second of its commit. */
const sealEveryMs = 900;
/** Other processes count on it that the refusals of a minute are written soon after it. */
const refusalsEveryMs = 1_000;
/** What is left of a backlog is sealed by the next process. */
const lastSealMs = 1_000;

/** What a process does for the audit log beside its calls. */
export interface Auditing {
  readonly refusals: Refusals;
  /** When no call is left: writes what is counted, and seals what can be. */
  stop(): Promise<void>;
}

export function startAuditing({ store, clock, log }: Pick<Ground, "store" | "clock" | "log">): Auditing {
  const counted = refusals(store, clock, log);
  const seal = sealer(store, clock);
  const stopping = new AbortController();
  const loops = [
    repeat(clock, sealEveryMs, stopping.signal, log, async function sealAuditLog() {
      await seal(stopping.signal);
    }),
    repeat(clock, refusalsEveryMs, stopping.signal, log, async function writeRefusals() {
      await counted.write();
    }),
  ];
  async function last(): Promise<void> {
    await counted.write(true);
    await seal(AbortSignal.timeout(lastSealMs));
  }
  return {
    refusals: counted,
    async stop() {
      stopping.abort();
      await Promise.all(loops);
      await last().catch((cause: unknown) => log("error", "the end of the audit log was not written", { cause }));
    },
  };
}
