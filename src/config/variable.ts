import type { ZodType } from "zod";
import { findNearest } from "../core/nearest.ts";

/** One environment variable: how it is read, and its documentation. */
export interface Variable<T, Fallback extends string | null = string | null> {
  readonly type: string;
  /** The text to parse when the variable is unset; null: unset has its own meaning. */
  readonly fallback: Fallback;
  /** The default in the documentation, if it depends on other variables or unset has its own meaning. */
  readonly unset?: string;
  /** The end of the sentence "NAME must be …". */
  readonly rule: string;
  readonly example: string;
  /** One or two sentences for operators. */
  readonly description: string;
  /** The value is not shown. */
  readonly secret?: true;
  readonly schema: ZodType<T, string>;
}

export const defineVariable = <T, Fallback extends string | null>(
  entry: Variable<T, Fallback>,
): Variable<T, Fallback> => entry;

type Variables = Readonly<Record<string, Variable<unknown>>>;

/** The parsed values: null only if unset has its own meaning. */
type Values<Group extends Variables> = {
  readonly [Name in keyof Group]: Group[Name] extends Variable<infer T, infer Fallback>
    ? Fallback extends string
      ? T
      : T | null
    : never;
};

/** An environment variable that breaks a rule. */
export interface Problem {
  readonly variable: string;
  readonly text: string;
}

/** The environment is not a valid configuration: every problem with its variable, rule and an example. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ text }) => text).join("\n"));
    this.problems = problems;
  }
}

const shownMax = 80;

/** Describes an invalid value, with the rule and an example; the value of a secret is omitted. */
export function invalidValue(
  name: string,
  { rule, example, secret }: Variable<unknown>,
  value: string,
): Problem {
  const shownValue = secret ? "" : ` (it is ${JSON.stringify(value.slice(0, shownMax))})`;
  return { variable: name, text: `${name} must be ${rule}${shownValue}; for example ${name}=${example}` };
}

/** Prefixes of settings' names, except those that other programs use too (`DATABASE_`, `FILE_`). */
const prefixes =
  /^(AGENT_PROFILES|BODY|CONNECTOR|CONSENT|CORS|DATA_DIR|DELEGATE|DELETED_TASK|DRAIN|ENCRYPTION|FETCH|MAIL|MAX_CONNECTIONS|MODELS?|NOTICE|OAUTH|OIDC|OWNER|PDF|RATE_LIMITS?|S3|SANDBOX|SEARCH|SIEM|SITES|SMTP|TRANSCRIBE|TRUST|WEBHOOK)_/;

/**
 * Variables that container managers derive from service names: `WEBHOOK_SERVICE_HOST`,
 * `MAIL_PORT_25_TCP_ADDR`.
 */
const serviceLink = /_SERVICE_(HOST|PORT)(_|$)|_PORT(_\d+_(TCP|UDP|SCTP))?(_(ADDR|PORT|PROTO))?$/;

/** Common variables of other programs that resemble a setting. */
const commonNames: ReadonlySet<string> = new Set(["API_URL", "HOSTS", "POST", "SORT"]);

const nameShownMax = 64;

/** Warnings about unknown variables that look like misspelt settings, each with a suggestion. */
export function findMisspelt(names: readonly string[], settings: readonly string[]): string[] {
  const unknown = names.filter((name) => !settings.includes(name) && !commonNames.has(name)).toSorted();
  return unknown.flatMap((name) => {
    const suggestion = findNearest(name, settings);
    if (suggestion !== undefined) return [`${name} is not a setting; did you mean ${suggestion}?`];
    return prefixes.test(name) && !serviceLink.test(name)
      ? [`${name.slice(0, nameShownMax)} is not a setting; docs/reference/configuration.md lists them`]
      : [];
  });
}

/** Reads variables group by group and collects problems, so that a start reports all of them. */
export interface Reader {
  /** Reads the values of a group. An invalid value is noted as a problem and counts as unset. */
  read<Group extends Variables>(group: Group): Values<Group>;
  /** Notes that a parsed value breaks the variable's rule. */
  noteInvalid<Name extends string>(
    group: Readonly<Record<Name, Variable<unknown>>>,
    name: NoInfer<Name>,
    value: string,
  ): void;
  /** Notes a problem if the variable is unset; another variable requires it. */
  require<Name extends string>(group: Readonly<Record<Name, Variable<unknown>>>, name: NoInfer<Name>): void;
  /** Notes another problem with a variable, for instance in the file that it names. */
  noteProblem(name: string, text: string): void;
  /** The text of any variable, including undocumented ones; undefined when unset. */
  readRaw(name: string): string | undefined;
  /** Whether the variable is set, to a valid value or not. */
  isSet(name: string): boolean;
  /** Whether a problem with one of these variables was noted: rules that combine them cannot be checked. */
  isRefused(...names: readonly string[]): boolean;
  readonly problems: readonly Problem[];
}

/**
 * A reader over settings; an empty one counts as unset.
 *
 * @param found problems that were found before, which come first.
 */
export function settingsReader(
  env: Readonly<Record<string, string | undefined>>,
  found: readonly Problem[],
): Reader {
  const problems: Problem[] = [...found];
  const raw = (name: string) => env[name] || undefined;
  const isSet = (name: string) => raw(name) !== undefined;

  function parsed(name: string, variable: Variable<unknown>): unknown {
    const text = raw(name) ?? variable.fallback;
    if (text === null) return null;
    const result = variable.schema.safeParse(text);
    if (result.success) return result.data;
    problems.push(invalidValue(name, variable, text));
    return variable.fallback === null ? null : variable.schema.parse(variable.fallback);
  }

  const refuse: Reader["noteInvalid"] = (group, name, value) =>
    void problems.push(invalidValue(name, group[name], value));

  return {
    // Each value has the type of its variable's schema.
    read: <Group extends Variables>(group: Group) =>
      Object.fromEntries(
        Object.entries(group).map(([name, variable]) => [name, parsed(name, variable)]),
      ) as Values<Group>,
    noteInvalid: refuse,
    require(group, name) {
      if (!isSet(name)) refuse(group, name, "");
    },
    noteProblem: (variable, text) => void problems.push({ variable, text }),
    readRaw: raw,
    isSet,
    isRefused: (...names) => problems.some(({ variable }) => names.includes(variable)),
    problems,
  };
}
