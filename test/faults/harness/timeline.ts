/** The faults and actions of a run, with their times. */
export interface Timeline {
  /** Seconds since the beginning. */
  seconds(): number;
  note(what: string): void;
  /** Counts of events by the words before the colon. */
  counts(): ReadonlyMap<string, number>;
  readonly lines: readonly string[];
}

export function timeline(tell: (line: string) => void = () => undefined): Timeline {
  const begun = performance.now();
  const lines: string[] = [];
  const counted = new Map<string, number>();
  const seconds = () => (performance.now() - begun) / 1000;
  return {
    seconds,
    lines,
    counts: () => counted,
    note(what) {
      const line = `${seconds().toFixed(1).padStart(7)} s  ${what}`;
      lines.push(line);
      tell(line);
      const [kind = what] = what.split(":");
      counted.set(kind, (counted.get(kind) ?? 0) + 1);
    },
  };
}
