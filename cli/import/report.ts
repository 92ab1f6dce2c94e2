import { timeText } from "../frame/print.ts";

/** The kinds of object that an import copies. */
export const kinds = ["project", "task", "file", "webhook"] as const;
export type Kind = (typeof kinds)[number];

/** An object that was left out, and why. */
export interface Note {
  readonly kind: Kind;
  /** Its id at the source. */
  readonly id: string;
  readonly reason: string;
}

/** What happened to the objects of one kind. */
export interface Tally {
  /** Made by this run. */
  copied: number;
  /** There from an earlier run. */
  present: number;
  /** Left out on purpose, or gone at the source. */
  skipped: number;
  /** To be tried by another run. */
  failed: number;
}

/** The most notes of each sort that a report lists; the numbers count all. */
const notesMax = 1_000;

/** Collects what an import did. */
export class Report {
  readonly counts: Record<Kind, Tally> = { project: tally(), task: tally(), file: tally(), webhook: tally() };
  readonly skipped: Note[] = [];
  readonly failed: Note[] = [];
  events = 0;

  add(kind: Kind, outcome: "copied" | "present"): void {
    this.counts[kind][outcome] += 1;
  }

  skip(kind: Kind, id: string, reason: string, count = 1): void {
    this.counts[kind].skipped += count;
    if (this.skipped.length < notesMax) this.skipped.push({ kind, id, reason });
  }

  fail(kind: Kind, id: string, reason: string): void {
    this.counts[kind].failed += 1;
    if (this.failed.length < notesMax) this.failed.push({ kind, id, reason });
  }

  total(outcome: keyof Tally): number {
    return kinds.reduce((sum, kind) => sum + this.counts[kind][outcome], 0);
  }

  /** The report as JSON. */
  toObject(origin: string): object {
    const { project, task, file, webhook } = this.counts;
    return {
      origin,
      projects: project,
      tasks: task,
      events: this.events,
      files: file,
      webhooks: webhook,
      skipped: this.skipped,
      failed: this.failed,
    };
  }

  /** The report as text, one line for each kind and each object that was left out. */
  toText(origin: string, seconds: number): string {
    const line = (kind: Kind) => {
      const { copied, present, skipped, failed } = this.counts[kind];
      return `${`${kind}s`.padEnd(9)} ${copied} copied, ${present} present, ${skipped} skipped, ${failed} failed`;
    };
    const note = (sort: string) => (each: Note) => `${sort} ${each.kind} ${each.id}: ${each.reason}`;
    return [
      `Import from ${origin}, ${timeText(seconds)}`,
      ...kinds.map(line),
      `events    ${this.events} copied`,
      ...this.skipped.map(note("skipped")),
      ...this.failed.map(note("failed")),
      ...(this.counts.webhook.copied > 0
        ? [
            "Imported webhooks are inactive and have new secrets: rotate the secret of each one, then resume it.",
          ]
        : []),
      ...(this.total("failed") > 0
        ? ["Run the command again to try what failed; what is copied stays."]
        : []),
    ].join("\n");
  }
}

const tally = (): Tally => ({ copied: 0, present: 0, skipped: 0, failed: 0 });
