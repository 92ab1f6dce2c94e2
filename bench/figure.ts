import type { Databases } from "./databases.ts";
import { alternate, type Contender } from "./load.ts";
import type { Peers } from "./peers.ts";
import { type Line, lineOf } from "./report.ts";

/** What figures are measured with. */
export interface Stage {
  readonly databases: Databases;
  readonly peers: Peers;
  /** Holds what a figure has started, and ends it. */
  readonly stack: AsyncDisposableStack;
}

/** One or more figures that are measured together. */
export interface Figure {
  readonly names: readonly string[];
  /** @throws Missing where this machine cannot measure it. */
  measure(stage: Stage): Promise<readonly Line[]>;
}

/** Calls that are compared by how many of them there are a second, or by how much they carry. */
export interface Race {
  readonly name: string;
  /** Callers at a time. */
  readonly concurrency: number;
  /** What a call counts, where the figure is another than calls a second. */
  readonly weight?: number;
  /** Ours, the floor, and others; those that cannot be had are null. */
  readonly contenders: (stage: Stage) => Promise<readonly (Contender | null)[]>;
  /** Further members of the line, measured after the rounds. */
  readonly more?: (stage: Stage, ours: Contender) => Promise<Readonly<Record<string, unknown>>>;
}

/** Many short rounds rather than few long ones: what else the machine does then falls on all alike. */
const rounds = 9;
const roundMs = 800;
const warmUpMs = 2_000;

/** A figure in calls per second. */
export const race = ({ name, concurrency, weight = 1, contenders, more }: Race): Figure => ({
  names: [name],
  async measure(stage) {
    const present = (await contenders(stage)).filter((contender) => contender !== null);
    const [ours] = present;
    const taken = await alternate(present, { rounds, ms: roundMs, warmUpMs, concurrency });
    const samples = taken.map((own) => own.map((sample) => ({ ...sample, perSecond: sample.perSecond * weight })));
    const members = more && ours ? await more(stage, ours) : {};
    return [lineOf(name, { names: present.map((contender) => contender.name), samples }, members)];
  },
});
