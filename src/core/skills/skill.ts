/** The kinds of owner of a skill (spec/api.md 7.7, spec/oauth.md 11). */
export const skillOwnerTypes = ["personal", "team", "project", "official", "app"] as const;
export type SkillOwnerType = (typeof skillOwnerTypes)[number];

/** The most skills of one owner (an app's: spec/oauth.md 11). */
export const skillsMax: Readonly<Record<SkillOwnerType, number>> = {
  personal: 100,
  team: 100,
  project: 100,
  official: 500,
  app: 50,
};

/** Instructions for an agent: a folder with SKILL.md, stored as a ZIP. Times are Unix milliseconds. */
export interface Skill {
  readonly id: string;
  readonly ownerType: SkillOwnerType;
  /** Null for official ones. */
  readonly spaceId: string | null;
  /** The owner of a personal skill; the creator of any other; null for the operator. */
  readonly accountId: string | null;
  readonly projectId: string | null;
  /** The owning app of an app's private skill. */
  readonly clientId: string | null;
  readonly name: string;
  /** May be empty. */
  readonly description: string;
  /** Whether tasks have it without naming it, unless their account chose otherwise. */
  readonly enabled: boolean;
  /** Its ZIP in the storage. */
  readonly blobId: string;
  /** Size of the ZIP. */
  readonly bytes: number;
  /** SHA-256 of the ZIP, in hex. */
  readonly sha256: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A skill with its creator's name, if that is known. */
export interface SkillView extends Skill {
  readonly creatorName: string | null;
}

/** The scope from which skills are visible: a task's, or a caller's. */
export interface SkillScope {
  readonly accountId: string;
  readonly spaceId: string;
  readonly projectId: string | null;
  readonly clientId: string | null;
}

/** The owner of a list of skills. Names are unique in a list. */
export type SkillOwner = Pick<Skill, "ownerType" | "spaceId" | "accountId" | "projectId" | "clientId">;

export type SkillChooser = Pick<SkillScope, "accountId" | "spaceId">;

/** Skills that are not deleted. */
export interface SkillRows {
  insert(skill: Skill): Promise<void>;
  byId(id: string): Promise<SkillView | null>;
  /** Skills of all owners, newest first, up to `max`: for the operator. */
  all(max: number): Promise<readonly SkillView[]>;
  /**
   * The skills visible from a place, newest first; of an app's skills only those that its settings name.
   * `enabled` is the account's choice for the place's space, if it made one.
   */
  visible(place: SkillScope): Promise<readonly SkillView[]>;
  /** Newest first. */
  listOfOwner(owner: SkillOwner): Promise<readonly SkillView[]>;
  /** Sets the default for accounts that have not chosen; false when there is no such skill. */
  setEnabled(id: string, enabled: boolean, now: number): Promise<boolean>;
  /** Sets the choice of one account; false when there is no such skill. */
  choose(id: string, chooser: SkillChooser, enabled: boolean): Promise<boolean>;
  deleteChoices(chooser: SkillChooser): Promise<void>;
  /** Replaces the content; false when there is no such skill. */
  replace(
    id: string,
    content: Pick<Skill, "description" | "blobId" | "bytes" | "sha256" | "updatedAt">,
  ): Promise<boolean>;
  /** Tombstones the skills, deletes their choices, and returns the blobs of those that existed. */
  remove(ids: readonly string[], now: number): Promise<readonly string[]>;
}
