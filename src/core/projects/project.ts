import type { Scope } from "../caller.ts";

/** At most so many projects in a space (contract/decisions.md 19b). */
export const projectsMax = 1000;

/** A named container whose instruction is applied to every task in it. */
export interface Project {
  readonly id: string;
  readonly accountId: string;
  readonly spaceId: string;
  readonly name: string;
  /** Empty when none was given. */
  readonly instruction: string;
  readonly createdAt: number;
}

export interface ProjectRows {
  insert(project: Project): Promise<void>;
  /** The caller's own, newest first. */
  list(scope: Scope): Promise<readonly Project[]>;
  find(scope: Scope, id: string): Promise<Project | null>;
  /** Whether a space has this project, whoever made it. */
  isIn(spaceId: string, id: string): Promise<boolean>;
  /** Whoever's: for the operator. */
  byId(id: string): Promise<Project | null>;
  /** Projects in a space, whoever made them. */
  count(spaceId: string): Promise<number>;
}
