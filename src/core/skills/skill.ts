/** Whose a skill can be (contract/v2.md 7.7, contract/oauth.md 11). */
export const skillOwnerTypes = ["personal", "team", "project", "official", "app"] as const;
export type SkillOwnerType = (typeof skillOwnerTypes)[number];

/** Skills of one list (an app's: contract/oauth.md 11). */
export const skillsMax: Readonly<Record<SkillOwnerType, number>> = { personal: 100, team: 100, project: 100, official: 500, app: 50 };

/** Something an agent can learn: a folder with SKILL.md, kept as a ZIP. Times are Unix milliseconds. */
export interface Skill {
  readonly id: string;
  readonly ownerType: SkillOwnerType;
  /** Null for official ones. */
  readonly spaceId: string | null;
  /** Whose, of a personal one; who brought it, of others; null for the operator. */
  readonly accountId: string | null;
  readonly projectId: string | null;
  /** The app, of a private one. */
  readonly clientId: string | null;
  readonly name: string;
  /** May be empty. */
  readonly description: string;
  /** Whether tasks have it without naming it, where their account has not chosen. */
  readonly enabled: boolean;
  /** Its ZIP in the storage. */
  readonly blobId: string;
  /** Of the ZIP. */
  readonly bytes: number;
  /** Of the ZIP, in hex. */
  readonly sha256: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A skill with the name of whoever brought it, as far as it is known. */
export interface SkillView extends Skill {
  readonly creatorName: string | null;
}

/** From where skills are looked at: a task, or a caller. */
export interface SkillPlace {
  readonly accountId: string;
  readonly spaceId: string;
  readonly projectId: string | null;
  readonly clientId: string | null;
}

/** One list of skills: in it a name is there once. */
export type SkillShelf = Pick<Skill, "ownerType" | "spaceId" | "accountId" | "projectId" | "clientId">;

/** Whose tasks a choice among skills is for. */
export type SkillChooser = Pick<SkillPlace, "accountId" | "spaceId">;

/** Skills that are not deleted. */
export interface SkillRows {
  insert(skill: Skill): Promise<void>;
  byId(id: string): Promise<SkillView | null>;
  /** Everybody's, newest first, up to `max`: for the operator. */
  all(max: number): Promise<readonly SkillView[]>;
  /**
   * Those that can be seen from a place, newest first: of an app's only those that its settings name. Each is enabled
   * as the account has chosen for the place's space.
   */
  visible(place: SkillPlace): Promise<readonly SkillView[]>;
  /** Newest first. */
  onShelf(shelf: SkillShelf): Promise<readonly SkillView[]>;
  /** Whether whoever has not chosen has it; false when there is no such skill. */
  setEnabled(id: string, enabled: boolean, now: number): Promise<boolean>;
  /** Whether one account's tasks have it; false when there is no such skill. */
  choose(id: string, chooser: SkillChooser, enabled: boolean): Promise<boolean>;
  /** All that an account has chosen in a space is as if it never had. */
  forgetChoices(chooser: SkillChooser): Promise<void>;
  /** Other content in the place of what it had; false when there is no such skill. */
  replace(id: string, content: Pick<Skill, "description" | "blobId" | "bytes" | "sha256" | "updatedAt">): Promise<boolean>;
  /** Leaves tombstones without choices, and answers the blobs of those that were there. */
  remove(ids: readonly string[], now: number): Promise<readonly string[]>;
}
