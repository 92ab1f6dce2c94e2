import { closeSync, openSync, readSync } from "node:fs";
import { parse as parseToml, TomlError } from "smol-toml";
import { z } from "zod";
import { findNearest } from "../core/nearest.ts";
import { defineVariable, invalidValue, type Problem, type Variable } from "./variable.ts";

export const settingsFile = {
  CONFIG_FILE: defineVariable({
    type: "TOML or JSON file",
    fallback: null,
    unset: "none; only environment variables are read",
    rule: "the path of a readable file of at most 256 KiB whose name ends with .toml or .json",
    example: "/etc/agent-task-platform/atp.toml",
    description:
      "A file with settings by the names of this page, for example `PORT = 8080` in TOML. Values are texts, numbers, `true` or `false`. An environment variable has precedence over the file. A name that is not a setting stops the start. The option `--config FILE` of commands sets this variable.",
    schema: z.string().regex(/^[^\0]+\.(toml|json)$/),
  }),
};

const { CONFIG_FILE } = settingsFile;

/** Settings by name; empty and undefined count as unset. */
export type Settings = Readonly<Record<string, string | undefined>>;

/** Settings from all sources, and the problems of files that could not be used. */
export interface Collected {
  readonly values: Settings;
  /** The names of settings from CONFIG_FILE that no variable of the environment replaces. */
  readonly inFile: ReadonlySet<string>;
  readonly problems: readonly Problem[];
}

const configMaxBytes = 256 * 1024;
const secretMaxBytes = 64 * 1024;
const nameShownMax = 64;

/** The variable that names the file of a secret. */
const fileVariable = (name: string): string => `${name}_FILE`;

/** The names of all settings, with the variables that name the files of secrets. */
export const settingNamesOf = (variables: Readonly<Record<string, Variable<unknown>>>): readonly string[] =>
  Object.entries(variables).flatMap(([name, { secret }]) => (secret ? [name, fileVariable(name)] : [name]));

/**
 * Collects settings from the file CONFIG_FILE, from the environment, which has precedence, and from the files
 * of secrets (`NAME_FILE`). A problem never shows the content of a file.
 */
export function collectSettings(
  env: Settings,
  variables: Readonly<Record<string, Variable<unknown>>>,
): Collected {
  const problems: Problem[] = [];
  const note = (variable: string, text: string) => void problems.push({ variable, text });
  const secrets = Object.keys(variables).filter((name) => variables[name]?.secret);
  const path = env["CONFIG_FILE"];
  if (path && !CONFIG_FILE.schema.safeParse(path).success)
    problems.push(invalidValue("CONFIG_FILE", CONFIG_FILE, path));
  const inFile =
    path && problems.length === 0 ? readSecrets(readConfigFile(path, variables, note), secrets, note) : {};
  const given = Object.entries(readSecrets(env, secrets, note)).filter(
    ([, value]) => value !== undefined && value !== "",
  );
  const names = new Set(given.map(([name]) => name));
  const fromFile = Object.entries(inFile).filter(
    ([name, value]) => value !== undefined && value !== "" && !names.has(name),
  );
  return {
    values: { ...inFile, ...Object.fromEntries(given) },
    inFile: new Set(fromFile.map(([name]) => name)),
    problems,
  };
}

/** The environment, with a file of settings instead of that of CONFIG_FILE. */
export const withConfigFile = (env: Settings, file: string | undefined): Settings =>
  file === undefined ? env : { ...env, CONFIG_FILE: file };

type Note = (variable: string, text: string) => void;

/**
 * Replaces each `NAME_FILE` of a secret by `NAME` with the content of the file, without a line break at its
 * end.
 */
function readSecrets(settings: Settings, secrets: readonly string[], note: Note): Settings {
  const values = { ...settings };
  for (const name of secrets) {
    const variable = fileVariable(name);
    const path = settings[variable];
    if (!path) continue;
    if (settings[name]) note(variable, `${variable} and ${name} are both set: set one of them`);
    else values[name] = readText(variable, path, secretMaxBytes, note)?.replace(/\r?\n$/, "");
    if (values[name] === "") note(variable, `${variable} names an empty file: ${path}`);
  }
  return values;
}

/**
 * The settings of a file, as texts. A name that is not a setting is a problem: unlike the environment, the
 * file has no other readers.
 */
function readConfigFile(
  path: string,
  variables: Readonly<Record<string, Variable<unknown>>>,
  note: Note,
): Settings {
  const names = settingNamesOf(variables).filter((name) => name !== "CONFIG_FILE");
  const text = readText("CONFIG_FILE", path, configMaxBytes, note);
  const values: Record<string, string> = {};
  for (const [name, value] of Object.entries(text === undefined ? {} : parseConfig(path, text, note))) {
    if (!names.includes(name)) note("CONFIG_FILE", unknownName(name, names));
    else if (isScalar(value)) values[name] = String(value);
    else note("CONFIG_FILE", `CONFIG_FILE: ${name} must be a text, a number, true or false`);
  }
  return values;
}

const isScalar = (value: unknown): boolean => ["string", "number", "boolean"].includes(typeof value);

function unknownName(name: string, names: readonly string[]): string {
  const suggestion = findNearest(name, names);
  const hint =
    suggestion === undefined ? "docs/reference/configuration.md lists them" : `did you mean ${suggestion}?`;
  return `CONFIG_FILE: ${JSON.stringify(name.slice(0, nameShownMax))} is not a setting; ${hint}`;
}

function parseConfig(path: string, text: string, note: Note): Readonly<Record<string, unknown>> {
  try {
    if (path.endsWith(".toml")) return parseToml(text);
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch (thrown) {
    const place = thrown instanceof TomlError ? ` (line ${thrown.line}, column ${thrown.column})` : "";
    note(
      "CONFIG_FILE",
      `CONFIG_FILE is not ${path.endsWith(".toml") ? "valid TOML" : "a JSON object"}${place}: ${path}`,
    );
  }
  return {};
}

/** Reads a file of at most `max` bytes; undefined, with a problem, if it cannot be read or is larger. */
function readText(variable: string, path: string, max: number, note: Note): string | undefined {
  const buffer = Buffer.alloc(max + 1);
  try {
    const length = readUpTo(path, buffer);
    if (length <= max) return buffer.toString("utf8", 0, length);
    note(variable, `${variable} names a file of more than ${max} bytes: ${path}`);
  } catch (thrown) {
    const code = thrown instanceof Error && "code" in thrown ? ` (${String(thrown.code)})` : "";
    note(variable, `${variable} names a file that cannot be read${code}: ${path}`);
  }
  return undefined;
}

/** Fills the buffer from a file, which can be a pipe without a size. Returns the number of bytes. */
function readUpTo(path: string, buffer: Buffer): number {
  const file = openSync(path, "r");
  try {
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read)
      read = readSync(file, buffer, length, buffer.length - length, null);
    return length;
  } finally {
    closeSync(file);
  }
}
