import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { anchorOf } from "./operation.ts";
import { type Section, specification } from "./sections.ts";

const common = {
  /** What the server does, in one sentence. */
  says: z.string(),
  /** The section of the specification, `spec/api.md 8.1`, or a page below `docs/`, `guides/agents.md`. */
  spec: z.string(),
};

const statement = z.union([
  /**
   * `tasks/stop.test.ts > refuses %s`: the file below `test/`, and the title of the test with as many groups
   * as make it unique.
   */
  z.strictObject({ ...common, test: z.string() }),
  /** Why the server does not do it. */
  z.strictObject({ ...common, "left out": z.string() }),
]);

const subject = z.strictObject({ subject: z.string(), rows: z.array(statement) });

/** A statement of the specification that a client can check. */
export type Statement = z.infer<typeof statement>;

/** The statements about one subject: a file of `docs/reference/compatibility/`. */
export type Subject = z.infer<typeof subject>;

/** The files of statements, in the order of the page. */
export const subjectFiles =
  "calls credentials limits tasks schedules messages waits objects usage webhooks oauth v1 responses team-users exports imports workers mcp a2a agui acp clients sign-in".split(
    " ",
  );

/** The file of a test below the project's folder, and its title. */
export function proofOf(test: string): readonly [file: string, title: string] {
  const at = test.indexOf(" > ");
  return [`test/${test.slice(0, at)}`, test.slice(at + 3)];
}

/** All statements, by subject. @throws Error for a file that does not have their form. */
export const readSubjects = (root: string): readonly Subject[] =>
  subjectFiles.map((name) =>
    subject.parse(parse(readFileSync(join(root, `docs/reference/compatibility/${name}.yaml`), "utf8"))),
  );

const cell = (text: string): string => text.replaceAll("|", "\\|");

const code = (text: string): string => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);

function stateOf(row: Statement): string {
  if ("left out" in row) return `left out: ${row["left out"]}`;
  const [file, title] = proofOf(row.test);
  return `works: [${code(title)}](../../${file})`;
}

/** A link to where the specification says it. */
function source({ spec }: Statement, sections: ReadonlyMap<string, Section>): string {
  const section = sections.get(spec);
  return section === undefined ? `[${spec}](../${spec})` : `[${spec}](../${section.page}#${section.anchor})`;
}

const countsOf = (rows: readonly Statement[]): readonly [works: number, leftOut: number] => {
  const works = rows.filter((row) => "test" in row).length;
  return [works, rows.length - works];
};

function overview(subjects: readonly Subject[]): string {
  const rows = subjects.map(({ subject: title, rows }) => [
    `[${title}](#${anchorOf(title)})`,
    ...countsOf(rows),
  ]);
  const all = ["**all**", ...countsOf(subjects.flatMap(({ rows }) => rows))];
  return [["Subject", "Works", "Left out"], ["---", "---", "---"], ...rows, all]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

/** The table of what the specification states, with the test that proves each statement. */
export function compatibilityPage(root: string): string {
  const sections = new Map(specification(root).map((section) => [section.name, section]));
  const subjects = readSubjects(root);
  const tableOf = (rows: readonly Statement[]): string =>
    [
      "| Statement | Stated in | State |",
      "| --- | --- | --- |",
      ...rows.map((row) => `| ${cell(row.says)} | ${source(row, sections)} | ${cell(stateOf(row))} |`),
    ].join("\n");
  return `${[
    "<!-- Made from docs/reference/compatibility/ by the set-up. -->",
    "# Compatibility",
    "What the [specification](../spec/api.md) states and a client can check, one statement in each row. `works` names the test that proves it: a test runs against the real server or the real function and fails when the statement is not true. In the name of a test, `%s`, `%j` and `$name` are values from the rows of its table. `left out` says why the server does not do it.",
    'A statement without a remark in the specification belongs to the public API; "(ours)" there marks a choice of this project.',
    overview(subjects),
    ...subjects.flatMap(({ subject: title, rows }) => [`## ${title}`, tableOf(rows)]),
  ].join("\n\n")}\n`;
}

const leftOutMark = /(<!-- not built[^>]*-->\n)[\s\S]*?(\n<!-- end of not built -->)/;

/**
 * The README with the statements that are left out, between its two marks. @throws Error when it has no
 * marks.
 */
export function withLeftOut(readme: string, root: string): string {
  const rows = readSubjects(root).flatMap(({ rows }) =>
    rows.flatMap((row) => ("left out" in row ? [`- ${row.says}`] : [])),
  );
  if (!leftOutMark.test(readme)) throw new Error("README.md has no marks for what is not built");
  return readme.replace(
    leftOutMark,
    (_, begin: string, end: string) => `${begin}\n${rows.join("\n")}\n${end}`,
  );
}
