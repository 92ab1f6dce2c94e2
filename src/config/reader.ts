import { type Problem, problemWith, type Variable } from "./variable.ts";

/** Reads variables one by one and collects what is wrong, so that a start reports all of it at once. */
export interface Reader {
  /** The value, or the variable's own default; null where there is neither, or a problem was noted. */
  read<T>(name: string, variable: Variable<T>): T | null;
  /** As `read`, with a stand-in for null: the default that depends on others, or any value after a problem. */
  readOr<T>(name: string, variable: Variable<T>, otherwise: T): T;
  /** Notes that a value, well-formed by itself, breaks the variable's rule. */
  refuse(name: string, variable: Variable<unknown>, value: string): void;
  /** Notes what is wrong with something that a variable leads to. */
  note(name: string, text: string): void;
  /** The text of any variable, those without an entry of their own too; undefined when unset. */
  raw(name: string): string | undefined;
  /** True when the variable is set, well or badly. */
  isRead(name: string): boolean;
  readonly problems: readonly Problem[];
}

/** A reader over an environment; an empty variable counts as unset. */
export function environmentReader(env: Readonly<Record<string, string | undefined>>): Reader {
  const problems: Problem[] = [];
  const refuse: Reader["refuse"] = (name, variable, value) => problems.push(problemWith(name, variable, value));
  const isRead = (name: string) => env[name] !== undefined && env[name] !== "";
  const note: Reader["note"] = (name, text) => problems.push({ variable: name, text });
  const raw = (name: string) => (isRead(name) ? env[name] : undefined);
  function read<T>(name: string, variable: Variable<T>): T | null {
    const text = isRead(name) ? env[name] : variable.fallback;
    if (text === undefined || text === null) return null;
    const parsed = variable.schema.safeParse(text);
    if (parsed.success) return parsed.data;
    refuse(name, variable, text);
    return null;
  }
  return { read, readOr: (name, variable, otherwise) => read(name, variable) ?? otherwise, refuse, note, raw, isRead, problems };
}
