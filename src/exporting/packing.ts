import type { Export } from "../core/exports/export.ts";
import type { Tx } from "../core/store.ts";
import { type ArchiveParts as DataParts, packData } from "./archive.ts";
import { packCompliance } from "./compliance.ts";
import type { Entry } from "./zip.ts";

/** Told of each step that is done; it throws when the archive is not wanted any more. */
export type OnStep = () => Promise<void>;

/** What an export packs. */
export interface Packing {
  /** How many steps there are; each tells of itself. */
  steps(): Promise<number>;
  /** The files of the archive, made while they are read. */
  entries(onStep: OnStep): AsyncGenerator<Entry>;
  /** Once they are read: how many events there were; null where none are counted. */
  eventCount(): number | null;
}

/** What archives of every kind are made of. */
export interface ArchiveParts extends DataParts {
  readonly store: DataParts["store"] & Pick<Tx, "steps" | "accounts">;
}

/** By the kind of the export. */
export const packingOf = (parts: ArchiveParts, wanted: Export): Packing =>
  wanted.kind === "data" ? packData(parts, wanted) : packCompliance(parts.store, wanted);
