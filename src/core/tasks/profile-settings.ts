import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { invalidArgument, notFound } from "../failure.ts";
import { isKeyName, keyNameRule } from "../keys/api-key.ts";
import { auditedRules, checkMayGrant } from "../permissions/grant.ts";
import type { PermissionRule } from "../permissions/rule.ts";
import type { Tx } from "../store.ts";
import {
  defaultFetch,
  type EntryFetch,
  type FetchMode,
  type FetchPolicy,
  hostPattern,
  hostRule,
  type ProfileFetch,
  strictest,
} from "./fetch-policy.ts";
import { defaultProfile, type Profiles, type ProfileText } from "./profile.ts";
import type { Task } from "./task.ts";

/** The limits of a profile in a space; null for none. */
export interface ProfileLimits {
  /** The most runs at once. */
  readonly concurrency: number | null;
  /** The longest time of a turn, in seconds. */
  readonly timeLimit: number | null;
}

/** What the owner of a space has set for a profile. Null: the default text, or no limit. */
export interface ProfileSettings extends ProfileLimits, ProfileFetch {
  readonly spaceId: string;
  readonly profile: string;
  readonly title: string | null;
  readonly description: string | null;
  /** The rules for uses of tools in its tasks. */
  readonly permissions: readonly PermissionRule[];
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

/** The changed members of settings; absent ones stay. */
export type ProfileEdit = Partial<
  Pick<
    ProfileSettings,
    "title" | "description" | "concurrency" | "timeLimit" | "fetch" | "fetchHosts" | "permissions"
  >
>;

/** The members of a task that select its settings. */
export type ProfileOfTask = Pick<Task, "spaceId" | "agentProfile">;

export interface ProfileRows {
  /** The settings of a space, in any order. */
  list(spaceId: string): Promise<readonly ProfileSettings[]>;
  set(settings: Pick<ProfileSettings, "spaceId" | "profile" | "updatedAt">, edit: ProfileEdit): Promise<void>;
  /**
   * The settings of these tasks that limit concurrency. Their rows stay locked until the change ends; they
   * are locked in one order.
   */
  lockLimited(
    tasks: readonly ProfileOfTask[],
  ): Promise<readonly (ProfileSettings & { concurrency: number })[]>;
  /** The number of runs in progress. */
  countRuns(settings: Pick<ProfileSettings, "spaceId" | "profile">): Promise<number>;
  /** Stores the labels of profiles, for the state of waiting tasks. Replaces all that are stored. */
  setLabels(labels: ProfileLabels): Promise<void>;
}

/**
 * The labels that a worker needs for the tasks of a profile, by profile. Profiles without labels may be
 * absent.
 */
export type ProfileLabels = Readonly<Record<string, readonly string[]>>;

export interface AgentProfile extends ProfileText, ProfileLimits, Pick<ProfileSettings, "permissions"> {
  readonly isDefault: boolean;
  readonly isRemote: boolean;
  readonly labels: readonly string[];
  /** The requests that its agents may send; null without a model. */
  readonly fetch: FetchPolicy | null;
}

/** The profiles of the caller's space (spec/api.md 8.78). */
export interface AgentProfiles {
  /** All of them, the default one first. */
  list(tx: Tx, caller: Pick<Caller, "spaceId">): Promise<readonly AgentProfile[]>;
  /**
   * @throws Failure `not_found`, `invalid_argument` for an empty edit, or a title that a key could not have
   * as its name.
   */
  update(tx: Tx, caller: Caller, profile: string, edit: ProfileEdit): Promise<AgentProfile>;
}

interface AgentProfilesParts {
  readonly clock: Pick<Clock, "now">;
  readonly profiles: Profiles;
  /** The profiles whose tasks remote workers run. */
  readonly remoteProfiles: readonly string[];
  readonly labels: ProfileLabels;
  /**
   * The mode and hosts of the entry of a profile's model; null without one. The mode is null for the default.
   */
  readonly entryOf: (profile: string) => EntryFetch | null;
}

export function agentProfiles({
  clock,
  profiles,
  remoteProfiles,
  labels,
  entryOf,
}: AgentProfilesParts): AgentProfiles {
  function toProfile(
    name: string,
    settings: ProfileSettings | undefined,
    byDefault: FetchMode,
  ): AgentProfile {
    const entry = entryOf(name);
    const policy = entry && {
      mode: entry.fetch ?? byDefault,
      hosts: entry.fetchHosts,
      isSet: entry.fetch !== null,
    };
    const { title, description, concurrency = null, timeLimit = null, permissions = [] } = settings ?? {};
    const text = profiles.textOf(name);
    return {
      id: name,
      title: title ?? text.title,
      description: description ?? text.description,
      concurrency,
      timeLimit,
      permissions,
      isDefault: name === defaultProfile,
      isRemote: remoteProfiles.includes(name),
      labels: labels[name] ?? [],
      fetch: policy && strictest(policy, settings ?? { fetch: null, fetchHosts: null }),
    };
  }

  /** It is read only where an entry has no mode. */
  const byDefaultOf = async (tx: Tx, names: readonly string[]): Promise<FetchMode> =>
    names.some((name) => entryOf(name)?.fetch === null) ? defaultFetch(tx) : "ask";

  async function find(tx: Tx, spaceId: string, name: string): Promise<AgentProfile> {
    return toProfile(
      name,
      (await tx.agentProfiles.list(spaceId)).find(({ profile }) => profile === name),
      await byDefaultOf(tx, [name]),
    );
  }

  return {
    async list(tx, { spaceId }) {
      const settings = new Map((await tx.agentProfiles.list(spaceId)).map((each) => [each.profile, each]));
      const byDefault = await byDefaultOf(tx, profiles.names);
      return profiles.names.map((name) => toProfile(name, settings.get(name), byDefault));
    },
    async update(tx, caller, profile, edit) {
      const { spaceId } = caller;
      if (!profiles.names.includes(profile)) throw notFound("agent profile", "agent_profile");
      if (Object.values(edit).every((value) => value === undefined))
        throw invalidArgument(
          "",
          "title, description, concurrency, time_limit_seconds, fetch or permissions is required",
        );
      if (edit.title && !isKeyName(edit.title)) throw invalidArgument("title", keyNameRule);
      // Rules are compared with those before: no other change of them may come between.
      if (edit.permissions) await tx.accounts.lockSpace(spaceId);
      const before = await find(tx, spaceId, profile);
      if (edit.permissions) checkMayGrant(caller, before.permissions, edit.permissions);
      const hosts = edit.fetchHosts?.map((host, at) => {
        const pattern = hostPattern(host);
        if (pattern === null) throw invalidArgument(`fetch.hosts[${at}]`, `must be ${hostRule}`);
        return pattern;
      });
      await tx.agentProfiles.set(
        { spaceId, profile, updatedAt: clock.now() },
        { ...edit, ...(hosts && { fetchHosts: hosts }) },
      );
      const after = await find(tx, spaceId, profile);
      tx.audit.note({ subject: profile, before: toAuditFacts(before), after: toAuditFacts(after) });
      return after;
    },
  };
}

const toAuditFacts = ({ title, concurrency, timeLimit, fetch, permissions }: AgentProfile) => ({
  title,
  concurrency: concurrency ?? 0,
  timeLimit: timeLimit ?? 0,
  ...(fetch && { fetch: fetch.mode, fetchHosts: fetch.hosts.join(" ") }),
  ...(permissions.length > 0 && auditedRules({ permissions })),
});
