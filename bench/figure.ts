import type { Databases } from "./databases.ts";
import { alternate, type Contender } from "./load.ts";
import type { Peers } from "./peers.ts";
import { createLine, type Line } from "./report.ts";

/** The environment of figures. */
export interface Stage {
  readonly databases: Databases;
  readonly peers: Peers;
  /** The numbers of tasks that figures of growth compare, in ascending order. */
  readonly sizes: readonly number[];
  /** Owns the resources that a figure has started, and ends them. */
  readonly stack: AsyncDisposableStack;
}

/** One or more figures that are measured together. */
export interface Figure {
  readonly names: readonly string[];
  /** @throws Missing if this machine cannot measure it. */
  measure(stage: Stage): Promise<readonly Line[]>;
}

/** Calls that are compared by calls per second, or by weight per second. */
export interface Race {
  readonly name: string;
  /** The number of concurrent callers. */
  readonly concurrency: number;
  /** The weight of a call, if the figure is not calls per second. */
  readonly weight?: number;
  /** Ours, the floor, and others; unavailable ones are null. */
  readonly contenders: (stage: Stage) => Promise<readonly (Contender | null)[]>;
  /** More members of the line, measured after the rounds. */
  readonly more?: (stage: Stage, ours: Contender) => Promise<Readonly<Record<string, unknown>>>;
}

/**
 * Many short rounds instead of few long ones, so that other load on the machine affects all contenders
 * equally.
 */
const rounds = 9;
const roundMs = 800;
const warmUpMs = 2_000;

/** A figure in calls per second. */
export const race = ({ name, concurrency, weight = 1, contenders, more }: Race): Figure => ({
  names: [name],
  async measure(stage) {
    const available = (await contenders(stage)).filter((contender) => contender !== null);
    const [ours] = available;
    const measured = await alternate(available, { rounds, ms: roundMs, warmUpMs, concurrency });
    const samples = measured.map((contenderSamples) =>
      contenderSamples.map((sample) => ({ ...sample, perSecond: sample.perSecond * weight })),
    );
    const members = more && ours ? await more(stage, ours) : {};
    return [createLine(name, { names: available.map((contender) => contender.name), samples }, members)];
  },
});
