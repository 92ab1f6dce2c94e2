import type { KindName } from "./kind.ts";

/** `used`: accepted, and done by a remote worker, which may do it once. `dismissed`: a message, which is what a question waits for, or a stop came instead of a decision. */
export type ActionState = "pending" | "accepted" | "used" | "cancelled" | "dismissed";

/** What a task asked its user for; at most one of a task is pending. */
export interface Action {
  readonly taskId: string;
  /** The number of the event that asks: its id is what task.confirmAction takes. */
  readonly seq: number;
  readonly spaceId: string;
  readonly kind: KindName;
  /** Empty for a kind with one schema. */
  readonly variant: string;
  /** Ties together the events of one use of a tool; 22 characters. */
  readonly actionId: string;
  readonly state: ActionState;
  /** What was decided: JSON, encrypted. Null before, and where nothing was. */
  readonly input: Uint8Array<ArrayBuffer> | null;
}

export interface ActionRows {
  insert(action: Action): Promise<void>;
  /** What a task waits for. */
  pending(taskId: string): Promise<Action | null>;
  /** Those of a task with a greater number, oldest first. */
  after(taskId: string, seq: number): Promise<readonly Action[]>;
  /** Decides what is pending; false when it no longer is. */
  decide(taskId: string, seq: number, state: "accepted" | "cancelled", input: Uint8Array<ArrayBuffer>): Promise<boolean>;
  /** Takes what was accepted for one use; false when it was taken already, or is not accepted. */
  take(taskId: string, seq: number): Promise<boolean>;
  /** Gives back what was taken and not used. */
  giveBack(taskId: string, seq: number): Promise<void>;
  /** Ends what is pending without a decision, and answers its kind; null when nothing was. */
  dismiss(taskId: string): Promise<KindName | null>;
  /** Erases all of a task. */
  erase(taskId: string): Promise<void>;
}
