import type { MemberStatus } from "../accounts/account.ts";
import type { ScopeName } from "./scope.ts";

/** What a code or a token family stands on at this moment, beside itself. */
export interface Standing {
  /** Grant and app live. */
  readonly lives: boolean;
  /** The app's; 0 once it is deleted. */
  readonly generation: number;
  /** The app's; none once it is deleted. */
  readonly scopes: readonly ScopeName[];
  /** The person's place in the app's team; null when there is none. */
  readonly member: { readonly status: MemberStatus; readonly teamId: string } | null;
}

/** Whether what was issued at a generation of the app is still good (contract/decisions.md 30). */
export const stands = ({ lives, generation, member }: Standing, issuedAt: number): boolean =>
  lives && generation === issuedAt && member?.status === "active";
