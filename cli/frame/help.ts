import type { Command, RouteMap } from "@stricli/core";
import type { CliContext } from "./context.ts";
import { styleOf } from "./style.ts";

type HelpArguments = Parameters<Command<CliContext>["formatHelp"]>[0];
type Parameters_ = Command<CliContext>["parameters"];
type Flag = NonNullable<Parameters_["flags"]>[string];

/** A row of a table: what is typed, and what it does. */
type Row = readonly [name: string, text: string];

/** A heading, and the lines below it. */
type Section = readonly [heading: string, lines: readonly string[]];

/** A longer name has its text on the next line. */
const widestName = 36;

/** The rows with their texts in one column. */
function tableOf(rows: readonly Row[]): readonly string[] {
  const width = Math.max(0, ...rows.map(([{ length }]) => length).filter((length) => length <= widestName));
  return rows.flatMap(([name, text]) =>
    name.length > width ? [name, `${" ".repeat(width)}  ${text}`] : [`${name.padEnd(width)}  ${text}`],
  );
}

/** A description, then sections. */
function helpText(
  { ansiColor }: HelpArguments,
  description: readonly string[],
  sections: readonly Section[],
): string {
  const { bold } = styleOf(ansiColor);
  const shown = sections.filter(([, lines]) => lines.length > 0);
  const parts = shown.map(([heading, lines]) =>
    [bold(heading), ...lines.map((line) => `  ${line}`)].join("\n"),
  );
  return `${[...description, ...parts].join("\n\n")}\n`;
}

/** `-w, --watch`; without a letter the name is aligned with the other names. */
const withLetter = (letter: string | undefined, name: string): string =>
  `${letter === undefined ? "    " : `-${letter}, `}--${name}`;

/** What is typed after the name of a flag. */
function typedAfter(flag: Flag): string {
  if (flag.kind === "boolean" || flag.kind === "counter") return "";
  const value = flag.placeholder ?? (flag.kind === "enum" ? flag.values.join("|") : "VALUE");
  return ` ${value}${flag.variadic ? "..." : ""}`;
}

function flagRows({ flags = {}, aliases = {} }: Parameters_): readonly Row[] {
  const letters = Object.entries(aliases);
  return Object.entries(flags).map(([name, flag]) => {
    const letter = letters.find(([, named]) => named === name)?.[0];
    const isNeeded = !flag.optional && !("default" in flag && flag.default !== undefined);
    return [
      `${withLetter(letter, name)}${typedAfter(flag)}`,
      isNeeded ? `${flag.brief} (required)` : flag.brief,
    ];
  });
}

/** Flags that every command has. */
const commonRows = ({
  additionalFlags,
  includeArgumentEscapeSequenceFlag,
  text,
}: HelpArguments): readonly Row[] => [
  ...additionalFlags
    .filter(({ hidden }) => !hidden)
    .map(({ name, brief, aliases }): Row => [withLetter(aliases?.[0], name), brief]),
  ...(includeArgumentEscapeSequenceFlag ? [["    --", text.briefs.argumentEscapeSequence] as const] : []),
];

function argumentRows({ positional }: Parameters_): readonly Row[] {
  if (positional?.kind === "array")
    return [[`${positional.parameter.placeholder ?? "ARGUMENT"}...`, positional.parameter.brief]];
  return (positional?.parameters ?? []).map(({ placeholder = "ARGUMENT", brief, optional }) => [
    optional ? `[${placeholder}]` : placeholder,
    brief,
  ]);
}

/** The texts of a command for its help. */
export interface Described {
  readonly brief: string;
  readonly about?: string;
  readonly examples: readonly string[];
}

/** The help of a command. */
export function commandHelp(
  command: Command<CliContext>,
  { brief, about, examples }: Described,
  args: HelpArguments,
): string {
  const { parameters } = command;
  return helpText(args, about === undefined ? [brief] : [brief, about], [
    ["USAGE", [`${command.formatUsageLine(args)} [FLAGS]`]],
    ["ARGUMENTS", tableOf(argumentRows(parameters))],
    ["FLAGS", tableOf([...flagRows(parameters), ...commonRows(args)])],
    ["EXAMPLES", examples],
  ]);
}

/** The help of a route: its commands with their arguments. */
export function routeHelp(route: RouteMap<CliContext>, args: HelpArguments): string {
  const prefix = args.prefix.join(" ");
  const rows = route.getAllEntries().map(({ name, target }): Row => {
    const usage = target.formatUsageLine({ ...args, prefix: [name.original] });
    return [usage, target.brief];
  });
  return helpText(
    args,
    [route.brief],
    [
      ["USAGE", [`${prefix} COMMAND [FLAGS]`]],
      ["COMMANDS", tableOf(rows)],
      ["FLAGS", tableOf(commonRows(args))],
      ["MORE", [`${prefix} COMMAND --help explains a command.`]],
    ],
  );
}

/** The help of the program: its commands in groups. */
export function programHelp(
  description: readonly string[],
  groups: Readonly<Record<string, readonly Row[]>>,
  examples: readonly string[],
  args: HelpArguments,
): string {
  const titles = Object.keys(groups);
  // One column for all groups.
  const lines = tableOf(Object.values(groups).flat());
  let at = 0;
  const sections = titles.map((title): Section => {
    const count = groups[title]?.length ?? 0;
    at += count;
    return [title, lines.slice(at - count, at)];
  });
  return helpText(args, description, [
    ["USAGE", [`${args.prefix.join(" ")} COMMAND [ARGUMENTS] [FLAGS]`]],
    ...sections,
    ["FLAGS", tableOf(commonRows(args))],
    ["EXAMPLES", examples],
  ]);
}
