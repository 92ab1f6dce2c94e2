import type { Fault } from "./fault.ts";

/** A call or a delivery that may get a fault. */
export interface Target {
  readonly wire: string;
  /**
   * The names by which a test may mean it: of the operation, of the RPC, and the path. For a delivery the id
   * of the webhook.
   */
  readonly names: readonly string[];
}

/** Which calls or deliveries a fault is for. Undefined: any. */
export interface Aim {
  readonly isDelivery: boolean;
  readonly name: string | undefined;
  readonly wire: string | undefined;
}

/** The faults that tests have armed, and those of headers. */
export interface ArmedFaults {
  arm(fault: Fault, aim: Aim): void;
  /** Removes all and returns the number of armed ones. */
  clear(): number;
  /** The first armed fault for a target that is not used up. It counts as used. */
  take(target: Target, isDelivery: boolean): Fault | null;
  /**
   * Counts a use of the fault of a header. The calls with equal keys are attempts of one call: after `skip`
   * and `times` the next one passes, and the count begins again.
   */
  ofHeader(fault: Fault, key: string): Fault | null;
}

const headersMax = 10_000;

export function armedFaults(): ArmedFaults {
  let armed: { fault: Fault; aim: Aim; uses: number }[] = [];
  const headers = new Map<string, number>();
  const fits = ({ name, wire }: Aim, target: Target) =>
    (name === undefined || target.names.includes(name)) && (wire === undefined || wire === target.wire);

  return {
    arm: (fault, aim) => void armed.push({ fault, aim, uses: 0 }),
    clear() {
      const count = armed.length;
      armed = [];
      headers.clear();
      return count;
    },
    take(target, isDelivery) {
      const entry = armed.find(({ aim }) => aim.isDelivery === isDelivery && fits(aim, target));
      if (entry === undefined) return null;
      const { fault } = entry;
      entry.uses += 1;
      if (entry.uses >= fault.skip + (fault.times ?? 1)) armed = armed.filter((other) => other !== entry);
      return entry.uses > fault.skip ? fault : null;
    },
    ofHeader(fault, key) {
      if (fault.times === null && fault.skip === 0) return fault;
      const uses = (headers.get(key) ?? 0) + 1;
      const isOver = fault.times !== null && uses > fault.skip + fault.times;
      headers.delete(key);
      if (!isOver) headers.set(key, uses);
      const [oldest] = headers.size > headersMax ? headers.keys() : [];
      if (oldest !== undefined) headers.delete(oldest);
      return isOver || uses <= fault.skip ? null : fault;
    },
  };
}
