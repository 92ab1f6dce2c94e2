import type { KindName } from "../core/actions/kind.ts";
import type { Clock } from "../core/clock.ts";
import type { ConnectedTask, UsableConnector } from "../core/connectors/use.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { SkillContent } from "../core/skills/content.ts";
import type { NewEvent } from "../core/tasks/event.ts";
import type { References } from "../core/tasks/references.ts";
import type { SubtaskState, Subtasks } from "../core/tasks/subtasks.ts";
import type { Usage } from "../core/usage/price.ts";
import type { Workspace } from "../core/workspaces/workspace.ts";

/** One thing said in a task, by either side. */
export interface Said {
  readonly role: "user" | "assistant";
  readonly content: string;
}

/** What the user decided on something that the agent asked approval for. */
export interface Decided {
  readonly kind: KindName;
  readonly accepted: boolean;
  /** What it was asked with, as the user saw it; absent: nothing. */
  readonly params?: JsonObject;
  /** As the kind's schema has it; what an earlier `always_allow` or `global_allow` decided has no other members. */
  readonly input: JsonObject;
}

/** A file that a message brought. */
export interface GivenFile {
  readonly filename: string;
  /** Media type. */
  readonly contentType: string;
  /** Its size. */
  readonly bytes: number;
  /** Reads it from its start. @throws Failure `absent` once its bytes are gone: what users bring lives for 48 hours. */
  read(): AsyncIterable<Uint8Array>;
}

/** A skill that the turn may use; what is in it is read when it is asked for. */
export interface GivenSkill extends SkillContent {
  readonly id: string;
  readonly name: string;
  /** May be empty. */
  readonly description: string;
  /** It must be invoked in this turn, and an event must show it (contract/v2.md 9.10). */
  readonly forced: boolean;
}

/** A file that an agent has made. Its bytes are read once, before what says it is written, and not again when the turn is resumed. */
export interface NewFile {
  /** A name as users may bring it; with a forbidden one the agent fails. */
  readonly filename: string;
  /** Media type; what the name tells of unless given. */
  readonly contentType?: string;
  /** At most 512 MB. */
  readonly content: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** A task that an agent has begun on its own, by `Turn.subtask`: it is made in the transaction of the event that tells of it. */
export interface Subtask {
  readonly id: string;
  /** Its first message. */
  readonly message: string;
}

/** A website as an agent hands it over: it becomes a checkpoint of its task's site, which is made with the first (contract/v2.md 9.12). */
export interface NewSite<File = NewFile> {
  /** 1 to 255 characters; counts where the task has no site yet. */
  readonly title: string;
  /** What is new in it. */
  readonly message: string;
  /** By their paths below the site's folder: at most 1,000, with 100 MB together. */
  readonly files: readonly { readonly path: string; readonly file: File }[];
}

/**
 * An event of an agent's. What it says may have files, which are kept as long as the task and linked to by the event;
 * a use of a tool may have begun a subtask, or have a website, saved with it.
 */
export type AgentEvent<File = NewFile> =
  | Exclude<NewEvent, Answer | Use>
  | (Answer & { readonly files?: readonly File[] })
  | (Use & { readonly subtask?: Subtask; readonly site?: NewSite<File> });
type Answer = Extract<NewEvent, { readonly type: "assistant_message" }>;
type Use = Extract<NewEvent, { readonly type: "tool_used" }>;

/** What an agent is given for one turn: the same again whenever the turn is resumed. */
export interface Turn {
  readonly taskId: string;
  readonly title: string;
  /** BCP 47: the language to answer in. */
  readonly locale: string;
  readonly profile: string;
  /** The project's instruction; empty without one. */
  readonly instruction: string;
  /** True lets the agent ask when something is unclear; otherwise it does its best. */
  readonly interactive: boolean;
  /** What was said in earlier turns, oldest first. */
  readonly earlier: readonly Said[];
  /** The messages to answer, oldest first. */
  readonly messages: readonly string[];
  /** The files that those messages brought, in their order. */
  readonly attachments: readonly GivenFile[];
  /** The files that messages of earlier turns brought, oldest first. */
  readonly earlierAttachments: readonly GivenFile[];
  /** The task's own files, from turn to turn. */
  readonly workspace: Workspace;
  /** The tasks that this one refers to. */
  readonly references: References;
  /** The skills at hand, forced ones first. */
  readonly skills: readonly GivenSkill[];
  /** What the agent left to itself when it asked the question that this turn answers; null in any other turn. */
  readonly memo: Json;
  /** The decisions of this turn, in the order in which the agent asked for them. */
  readonly decisions: readonly Decided[];
  /** The agent's own events of this turn that are written already, oldest first. */
  readonly written: readonly NewEvent[];
  /** The connectors that it may use, as they were when the run began; without those whose use was taken away. */
  readonly connectors: readonly UsableConnector[];
  /** Whose task it is: by it the connectors are looked up anew for each use. */
  readonly owner: Pick<ConnectedTask, "accountId" | "spaceId" | "clientId">;
  /** What a value must fit that the agent is to give at its finish; null when none is asked for. */
  readonly outputSchema: JsonObject | null;
  /**
   * Reserves what a call will cost at most, in every budget that it counts in; call it before the call.
   *
   * @throws Failure `exhausted` when one of them has no room: end the turn with `fail`, errorType `quota_limit`.
   */
  readonly reserve: (atMost: Usage) => Promise<Hold>;
  /**
   * A subtask with this message, which begins with the event that it goes with. Only in an agent's main task.
   *
   * @throws Failure `exhausted` while too many run, `invalid` for a text that users could not send either.
   */
  readonly subtask?: (message: string) => Promise<Subtask>;
  /** What became of subtasks; `begun` are the newest, as they stood when the run began. Only in an agent's main task. */
  readonly subtasks?: Subtasks & { readonly begun: readonly SubtaskState[] };
  /** 1 for the first run of this turn, more when an earlier one was lost or the turn has waited for a decision. */
  readonly claim: number;
  readonly clock: Clock;
  /** Aborted when the run is no longer ours: by a stop, a drain or a lost lease. */
  readonly signal: AbortSignal;
}

export type { Usage };

/** Credits that are reserved for one call, of a model or a tool. */
export interface Hold {
  readonly id: string;
  readonly credits: number;
}

/** Events that are written in one transaction, and what they cost. */
export interface Progress<File = NewFile> {
  /** At least one, unless something was used up at last that no event tells of. */
  readonly events: readonly AgentEvent<File>[];
  /** Whole and not negative; what `usage` costs comes on top. */
  readonly credits?: number;
  /** Priced by the profile's table (docs/budgets.md). */
  readonly usage?: Usage;
  /** Holds that end with this: what was really used is in `usage`. */
  readonly settles?: readonly Hold[];
}

/** How a turn ends. */
export type Outcome<File = NewFile> =
  /** `output` is the value that `outputSchema` asks for; without one the extraction counts as failed. */
  | { readonly kind: "finish"; readonly content: string; readonly output?: Json; readonly files?: readonly File[] }
  | { readonly kind: "fail"; readonly errorType: string; readonly content: string }
  /** The next message is the answer; the turn it begins is given the `memo` back. */
  | {
      readonly kind: "ask";
      readonly content: string;
      /** Offered answers. */
      readonly options: readonly string[];
      readonly memo: Json;
    }
  /** The same turn goes on after the decision: the generator is run again, with one decision more. */
  | {
      readonly kind: "confirm";
      readonly action: KindName;
      /** Where the kind has several schemas. */
      readonly variant: string;
      /** What is asked, for people; the kind's own text unless given. */
      readonly description?: string;
      /** The tool's arguments, for instance `messages` of a mail. */
      readonly params?: JsonObject;
    }
  /** Given up as if this process had died: nothing is written, and a sweep finds the task. */
  | { readonly kind: "abandon" };

/**
 * An agent answers a turn by a generator: each yield is a group of events that is
 * written in one transaction, the return value is the outcome. When a run was lost,
 * or the turn has waited for a decision, the generator is run again from its start,
 * and the events that the turn already has are passed over: so an agent must yield
 * the same events for the same turn.
 */
export type Agent<File = NewFile> = (turn: Turn) => AsyncGenerator<Progress<File>, Outcome<File>, void>;
