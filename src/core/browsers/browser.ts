import type { Scope } from "../caller.ts";

/** Whose browsers. */
export type Lender = Pick<Scope, "accountId" | "spaceId">;

/** A browser that somebody lends to the agents, while its stream is open (contract/v2.md 7.12, 9.4). */
export interface Browser extends Lender {
  /** The client's own lasting UUID. */
  readonly id: string;
  /** The process that holds its stream. */
  readonly nodeId: string;
  readonly name: string;
  readonly userAgent: string;
  /** Unix ms; greater with each attach of the same id, so that it tells them apart. */
  readonly attachedAt: number;
}

/** An account may have so many online in a space. */
export const browsersMax = 10;

export interface BrowserRows {
  /** Those that are online, the oldest first. */
  list(lender: Lender): Promise<readonly Browser[]>;
  find(lender: Lender, id: string): Promise<Browser | null>;
  /** How many are online beside this one. */
  countBeside(lender: Lender, id: string): Promise<number>;
  /** Makes it online, in place of an earlier attach; null where the id is another's. */
  put(browser: Browser): Promise<Browser | null>;
  /** Takes it away, unless another attach has taken its place. */
  remove(browser: Pick<Browser, "id" | "attachedAt">): Promise<void>;
  /** Takes away all that a process held which is no more. */
  forgetNode(nodeId: string): Promise<void>;
}
