import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clientCommands, type Entry, groups, serverCommands, type Target } from "../../cli/commands.ts";
import { runWith } from "../cli/rig.ts";
import { freePort } from "../support/free-port.ts";
import { root } from "../support/server-process.ts";
import { openService } from "../support/service.ts";
import { blocksIn, readPage, shell } from "./page.ts";

test("docs/guides/cli.md: every command answers as the comment after it says", async () => {
  const port = `${await freePort()}`;
  await using service = await openService({ env: { PORT: port, BASE_URL: `http://127.0.0.1:${port}` } });
  const { key } = await service.person();
  const folder = mkdtempSync(join(tmpdir(), "cli-guide-"));
  symlinkSync(join(root, "atp"), join(folder, "atp"));
  const own = { ATP_URL: service.url, ATP_KEY: key };
  const known = { TASK: "", HOME: folder, XDG_CONFIG_HOME: join(folder, "config"), NO_COLOR: "1" };
  const commands = blocksIn(readPage("docs/guides/cli.md"), "sh").flatMap((block) =>
    block.split(/\n(?=[^#\n])/),
  );
  for (const command of commands) {
    const [, expected = ""] = /^# (.*)$/m.exec(command) ?? [];
    // Where a command does not name them, the installation and its credential are those of the sign-in.
    const answer = await shell(
      `cd ${folder}\n${command}`,
      command.includes("$ATP_") ? { ...known, ...own } : known,
    );
    expect(answer, command).toContain(expected);
    known.TASK = /"task_id":"(\w+)"/.exec(answer)?.[1] ?? known.TASK;
  }
  expect(commands.length).toBeGreaterThan(15);
  for (const shellName of ["bash", "zsh", "fish"])
    expect(readFileSync(join(folder, shellName === "zsh" ? "_atp" : `atp.${shellName}`), "utf8")).toContain(
      "__complete",
    );
  await shell(`bash -n ${join(folder, "atp.bash")}`);
  rmSync(folder, { recursive: true });
});

/** The words of every command below a route. */
const commandsBelow = (target: Target, words: readonly string[]): readonly (readonly string[])[] =>
  "getAllEntries" in target
    ? target.getAllEntries().flatMap((entry) => commandsBelow(entry.target, [...words, entry.name.original]))
    : [words];

async function helpOf(words: readonly string[]): Promise<string> {
  const { code, out } = await runWith("/nowhere", { url: "http://127.0.0.1:9" }, [...words, "--help"]);
  expect(code).toBe(0);
  return `### ${["atp", ...words].join(" ")}\n\n\`\`\`text\n${out.trimEnd()}\n\`\`\`\n`;
}

/** `SERVER: PEOPLE AND KEYS` as `Server: people and keys`. */
const titleOf = (group: string): string => group[0] + group.slice(1).toLowerCase();

const anchorOf = (title: string): string => title.toLowerCase().replaceAll(":", "").replaceAll(" ", "-");

const entries: Readonly<Record<string, Entry | undefined>> = { ...clientCommands, ...serverCommands };

/** The commands of a group of the help. */
async function chapter(title: string, names: readonly string[]): Promise<readonly string[]> {
  const sections: string[] = [`## ${title}\n`];
  for (const name of names) {
    const { brief, load } = entries[name] ?? expect.fail(`${name} is not a command`);
    const target = await load();
    expect(brief, name).toBe(target.brief);
    if ("getAllEntries" in target) sections.push(await helpOf([name]));
    for (const words of commandsBelow(target, [name])) sections.push(await helpOf(words));
  }
  return sections;
}

test("docs/reference/commands.md has the help of every command", async () => {
  const titles = Object.entries(groups).map(([group, names]) => ({ title: titleOf(group), names }));
  const head = `# Commands

Every command of \`atp\`, as its \`--help\` shows it, in the groups of the help. A test writes this page. In a clone the program is \`./atp\`; before
the set-up it shows the help from this page.

Commands of the groups that begin with Server are for operators: they need the [settings](configuration.md) of the server, and most open its
database. One whose name is that of a command of the API begins with \`server-\`. All others are for users of the
[command line](../guides/cli.md): they need the address of an installation and a credential for it.

| Group | Commands |
| --- | --- |
${titles.map(({ title, names }) => `| [${title}](#${anchorOf(title)}) | ${names.map((name) => `[\`${name}\`](#atp-${name})`).join(", ")} |`).join("\n")}
`;
  const page = [head, "## The program\n", await helpOf([])];
  for (const { title, names } of titles) page.push(...(await chapter(title, names)));
  const path = join(root, "docs/reference/commands.md");
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(path, page.join("\n"));
  expect(readFileSync(path, "utf8")).toBe(page.join("\n"));
});

test("every command is in one group of the help", () => {
  const all = [...Object.keys(clientCommands), ...Object.keys(serverCommands)];
  expect(Object.values(groups).flat().toSorted()).toEqual(all.toSorted());
});
