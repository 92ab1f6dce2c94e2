import { visible } from "../../src/core/actions/visible.ts";
import type { Person, Service } from "../support/service.ts";
import type { Leaf } from "./acts.ts";

/** What a person has in front of them when a surface shows a task that waits for an approval. */
export interface View {
  /** Everything that the view says, as the person reads it. */
  readonly text: string;
  /** Whether the person can approve here. */
  readonly offersDecision: boolean;
  /** Whether the view has this value next to its path. Default: `path: value` in the text. */
  readonly shows?: (leaf: Leaf) => boolean;
}

/** The platform, a person in it, and how one of this person's tasks begins to wait. */
export interface Scene {
  readonly service: Service;
  readonly person: Person;
}

/** A surface: the client of a protocol, a terminal or a browser. It is opened once for many tasks. */
export interface Surface {
  /** Shows a running task; `wait` ends its turn with the request for the approval. */
  show(taskId: string, wait: () => Promise<void>): Promise<View>;
  /**
   * Tries to approve on the wire of this surface; the code of the refusal. Absent: the surface has no
   * separate wire.
   */
  decide?(taskId: string, eventId: string): Promise<string | undefined>;
  close?(): Promise<void>;
}
export type OpenSurface = (scene: Scene) => Promise<Surface>;

/** The values that a view leaves out, of an action that it should show whole. */
export function missingIn(
  { text, shows = (leaf) => hasRow(text, leaf) }: View,
  leaves: readonly Leaf[],
): readonly Leaf[] {
  return leaves.filter((leaf) => !shows(leaf));
}

/** Lines of a value are indented by 2 blanks, so that they are not read as rows. */
function hasRow(text: string, { path, value }: Leaf): boolean {
  const [name, shown] = [visible(path), visible(value)];
  const row = shown.includes("\n") ? `${name}:\n${shown.replaceAll(/^/gm, "  ")}` : `${name}: ${shown}`;
  return `\n${text}\n`.includes(`\n${row}\n`);
}

/** Characters that a view must not have: those that control a terminal or move the text. */
export const deceiving =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the subject
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/;
