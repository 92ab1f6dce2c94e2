import type { Scope } from "../caller.ts";
import type { ScopeName } from "./scope.ts";

/** What a member lets an app do, as its list shows it. */
export interface GrantView {
  readonly id: string;
  readonly clientId: string;
  readonly appName: string;
  readonly homepageUrl: string;
  readonly scopes: readonly ScopeName[];
  readonly connectorUids: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Living grants to living apps; families and codes are judged through them. */
export interface GrantRows {
  /** The caller's own, newest first. */
  list(scope: Scope): Promise<GrantView[]>;
  /** False when the caller lets the app do nothing. */
  revoke(scope: Scope, clientId: string, now: number): Promise<boolean>;
}
