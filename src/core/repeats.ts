import type { Log } from "./log.ts";

/** Repetitions of a line are counted for this long, in milliseconds, and then written as one line. */
const windowMs = 60_000;
/** The maximum number of different lines that are counted; beyond it, the oldest one ends early. */
const linesMax = 200;

export interface RepeatedLine {
  readonly level: "warn" | "error";
  readonly text: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Lines by a key: the first one is written at once, further ones are counted, and the end is written. */
export interface Repeats {
  /** The number of lines that are counted now. */
  size(): number;
  /**
   * It happens, or still holds. The count is written with the text and fields of the latest call, at most
   * once a minute.
   */
  again(key: string, line: RepeatedLine): void;
  /** It no longer holds. */
  over(key: string): void;
  /**
   * Writes counts that are due, and ends lines without a repetition in a minute. Call it every few seconds.
   */
  sweep(): void;
}

interface Counted {
  line: RepeatedLine;
  readonly since: number;
  /** The start of the minute that is counted. */
  from: number;
  /** Repetitions in it. */
  count: number;
  /** All, with the first. */
  total: number;
}

/** @param now monotonic milliseconds. */
export function repeats(write: Log, now: () => number): Repeats {
  const lines = new Map<string, Counted>();

  function writeCount(counted: Counted): void {
    const { line, count, from } = counted;
    if (count > 0)
      write(
        line.level,
        `${line.text} (repeated ${times(count)} in the last ${secondsFrom(from)} s)`,
        line.fields,
      );
    Object.assign(counted, { from: now(), count: 0 });
  }

  const secondsFrom = (start: number): number => Math.round((now() - start) / 1000);

  function end(key: string, counted: Counted): void {
    lines.delete(key);
    writeCount(counted);
    const { line, since, total } = counted;
    write("info", `over: ${line.text} (${times(total)} in ${secondsFrom(since)} s)`, line.fields);
  }

  /** Stops counting. Whether it is over is not known. */
  function forget(key: string, counted: Counted): void {
    lines.delete(key);
    writeCount(counted);
  }

  const isDue = ({ from }: Counted): boolean => now() - from >= windowMs;

  return {
    size: () => lines.size,
    again(key, line) {
      const counted = lines.get(key);
      if (counted === undefined) {
        const [oldest] = lines.size >= linesMax ? lines : [];
        if (oldest) forget(...oldest);
        write(line.level, line.text, line.fields);
        lines.set(key, { line: withoutCause(line), since: now(), from: now(), count: 0, total: 1 });
        return;
      }
      Object.assign(counted, {
        line: withoutCause(line),
        count: counted.count + 1,
        total: counted.total + 1,
      });
      if (isDue(counted)) writeCount(counted);
    },
    over(key) {
      const counted = lines.get(key);
      if (counted !== undefined) end(key, counted);
    },
    sweep() {
      for (const [key, counted] of lines) {
        if (!isDue(counted)) continue;
        if (counted.count > 0) writeCount(counted);
        // A line that came once has no end worth a line.
        else if (counted.total === 1) lines.delete(key);
        else end(key, counted);
      }
    },
  };
}

/** A stack trace is written once. */
function withoutCause({ fields = {}, ...line }: RepeatedLine): RepeatedLine {
  const { cause: _, ...rest } = fields;
  return { ...line, fields: rest };
}

const times = (count: number): string => (count === 1 ? "once" : `${count} times`);
