/** Whose data is exported: a present or past member of a team (contract/enterprise.md 6). */
export interface Subject {
  /** The account, which may be gone. */
  readonly accountId: string;
  readonly teamId: string;
}

/** By account id, or by address, case aside. */
export type SubjectRef = { readonly accountId: string } | { readonly email: string } | { readonly either: string };

export interface SubjectRows {
  /**
   * A person who is or was in a space's team; null for anybody else, and in a personal space. An address is that
   * of a living member first, then what a living member's was before it was delegated, then a removed member's,
   * the latest removed first (contract/decisions.md 5).
   */
  subject(spaceId: string, ref: SubjectRef): Promise<Subject | null>;
}
