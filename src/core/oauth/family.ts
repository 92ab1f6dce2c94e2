import type { MemberStatus, Role } from "../accounts/account.ts";
import type { ScopeName } from "./scope.ts";

/** A token family together with what decides whether its access token opens anything at this moment. */
export interface TokenHolder {
  readonly familyId: string;
  readonly clientId: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly locale: string;
  /** The `jti` of the living access token; null when there is none. */
  readonly accessId: string | null;
  /** Family, grant and app all live. */
  readonly lives: boolean;
  /** The app's generation when the family was authorized, and now. */
  readonly generation: number;
  readonly appGeneration: number;
  /** Token ∩ app: what was taken from the app is taken from its tokens. */
  readonly scopes: readonly ScopeName[];
  /** Grant ∩ app. */
  readonly connectorUids: readonly string[];
  /** The person's place in the app's team; null when there is none. */
  readonly member: { readonly role: Role; readonly status: MemberStatus } | null;
}

export interface FamilyRows {
  /** One statement: family, grant, app, account and membership. */
  holder(familyId: string): Promise<TokenHolder | null>;
}
