import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/**
 * A metric, and how many label sets it may have. Further ones count as one set whose labels are all `other`.
 */
export interface Definition<Label extends string = string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  readonly most: number;
  /**
   * Values of its only label whose series exist from the start: a series that appears later hides its first
   * increase.
   */
  readonly known?: readonly string[];
}

type Labels<Label extends string> = Readonly<Record<Label, string>>;

const valueMax = 80;

/** Decides which label sets a metric keeps. */
export function room<Label extends string>({
  labels: names,
  most,
}: Pick<Definition<Label>, "labels" | "most">) {
  const kept = new Set<string>();
  const other = Object.fromEntries(names.map((name) => [name, "other"])) as Labels<Label>;
  return (labels: Labels<Label>): Labels<Label> => {
    const values = names.map((name) => labels[name]);
    const key = values.join("\n");
    if (kept.has(key)) return labels;
    if (kept.size >= most || values.some((value) => value.length > valueMax)) return other;
    kept.add(key);
    return labels;
  };
}

/**
 * Series of one label set of a histogram: its buckets, the last one without a bound, the sum and the count.
 */
const histogramSeries = (buckets: readonly number[]): number => buckets.length + 3;

/** Creates the metrics of a registry, and counts the series that they can have at most. */
export function seriesOf(registry: Registry) {
  const registers = [registry];
  let seriesMax = 0;

  const add = ({ labels, most }: Definition, series: number): void => {
    // One more set for `other`; a metric without labels is one set.
    seriesMax += series * (labels.length === 0 ? 1 : most + 1);
  };

  return {
    seriesMax: () => seriesMax,
    /**
     * @param isCounted whether the label sets belong to the second room: sets of one room cannot displace
     * those of the other.
     */
    counter<Label extends string>(
      of: Definition<Label>,
      inSecond: (labels: Labels<Label>) => boolean = () => false,
    ) {
      const { name, help, labels: labelNames } = of;
      const metric = new Counter({ name, help, labelNames, registers });
      const [first, second] = [room(of), room(of)];
      add(of, 1);
      if (inSecond.length > 0) add(of, 1);
      for (const value of of.known ?? [])
        metric.inc(first(Object.fromEntries([[labelNames[0], value]]) as Labels<Label>), 0);
      return (labels: Labels<Label>, by = 1): void =>
        metric.inc((inSecond(labels) ? second : first)(labels), by);
    },
    histogram<Label extends string>(of: Definition<Label>, buckets: number[]) {
      const { name, help, labels: labelNames } = of;
      const metric = new Histogram({ name, help, labelNames, buckets, registers });
      const keep = room(of);
      add(of, histogramSeries(buckets));
      return (labels: Labels<Label>, value: number): void => metric.observe(keep(labels), value);
    },
    /** A gauge whose label sets are all replaced by each reading. Sets that count as `other` are joined. */
    gauge<Label extends string>(
      of: Definition<Label>,
      join: (a: number, b: number) => number = (a, b) => a + b,
    ) {
      const { name, help, labels: labelNames } = of;
      const metric = new Gauge({ name, help, labelNames, registers });
      const keep = room(of);
      add(of, 1);
      return (rows: readonly (readonly [Labels<Label>, number])[]): void => {
        metric.reset();
        const joined = new Map<string, readonly [Labels<Label>, number]>();
        for (const [labels, value] of rows) {
          const kept = keep(labels);
          const key = JSON.stringify(labelNames.map((label) => kept[label]));
          const before = joined.get(key);
          joined.set(key, [kept, before ? join(before[1], value) : value]);
        }
        for (const [labels, value] of joined.values()) metric.set(labels, value);
      };
    },
  };
}

export type Series = ReturnType<typeof seriesOf>;
