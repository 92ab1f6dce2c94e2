import type { Log } from "../core/log.ts";

/** Repetitions of a line are counted for so long, and then written as one line. */
const windowMs = 30_000;
/** Different lines that are counted at a time; beyond it the oldest one's count is written early. */
const linesMax = 200;

interface Line {
  readonly level: "warn" | "error";
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly timer: NodeJS.Timeout;
  readonly since: number;
  count: number;
}

/**
 * A log that writes identical warnings and errors once and then counts them: `… (repeated 57 times in the last 30 s)`.
 * Lines are identical when level, text and all fields but `cause` are; the caller puts the text of the cause into `text`.
 */
export function countRepeats(write: Log): Log {
  const lines = new Map<string, Line>();

  /** Writes how often a line was repeated, if it was, and ends its count. */
  function tell(key: string, line: Line): boolean {
    clearTimeout(line.timer);
    lines.delete(key);
    if (line.count === 0) return false;
    const seconds = Math.round((performance.now() - line.since) / 1000);
    const times = line.count === 1 ? "once" : `${line.count} times`;
    write(line.level, `${line.text} (repeated ${times} in the last ${seconds} s)`, line.fields);
    return true;
  }

  function count(key: string, { level, text, fields }: Pick<Line, "level" | "text" | "fields">): void {
    // What was repeated is counted on: it may go on.
    const timer = setTimeout(() => {
      if (tell(key, line)) count(key, line);
    }, windowMs);
    // A process ends without waiting for its counts.
    timer.unref();
    const line: Line = { level, text, fields, timer, since: performance.now(), count: 0 };
    lines.set(key, line);
  }

  return (level, text, fields = {}) => {
    if (level !== "warn" && level !== "error") return write(level, text, fields);
    const { cause: _, ...rest } = fields;
    const key = JSON.stringify([level, text, rest]);
    const known = lines.get(key);
    if (known) {
      known.count += 1;
      return;
    }
    const [oldest] = lines.size >= linesMax ? lines : [];
    if (oldest) tell(...oldest);
    write(level, text, fields);
    count(key, { level, text, fields: rest });
  };
}
