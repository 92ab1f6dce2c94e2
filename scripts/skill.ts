// `npm run --silent skill -- import PATH [--official]`: keeps a skill from a folder or a ZIP; `list` shows all, `remove ID` removes one.
import { parseArgs } from "node:util";
import { stageSkill } from "../src/core/skills/keep.ts";
import { importSkill, listSkills, readSkill, removeSkill, type SkillTarget } from "../src/core/skills/operator.ts";
import { userNames } from "../src/egress/resolve.ts";
import { filesOf } from "../src/wiring/files.ts";
import { runCommand, useInstallation } from "./command.ts";

const usage = `usage: npm run --silent skill -- import FOLDER|ZIP [--official | --team NAME | --project ID | --user EMAIL]
       npm run --silent skill -- list
       npm run --silent skill -- remove ID

  import      keeps a skill, in the place of the one of its name there, and prints its id and name; without a word of whose, the first team's
  --official  everybody's
  --team      a team's
  --project   a project's
  --user      a person's own
  list        all skills: id, owner type, space, bytes, name
  remove      deletes one; tasks have it no longer
`;

/** What is asked for. */
type Command =
  | { readonly name: "import"; readonly path: string; readonly target: SkillTarget }
  | { readonly name: "list" }
  | { readonly name: "remove"; readonly id: string };

/** Null when the words make no sense. */
function parse(words: readonly string[]): Command | null {
  const text = { type: "string" } as const;
  const options = { official: { type: "boolean" }, team: text, project: text, user: text } as const;
  const { values, positionals } = parseArgs({ args: [...words], options, strict: true, allowPositionals: true });
  const [name, of = "", ...more] = positionals;
  if (more.length > 0 || Object.keys(values).length > (name === "import" ? 1 : 0)) return null;
  if (name === "list" && of === "") return { name };
  if (name === "remove" && of !== "") return { name, id: of };
  return name === "import" && of !== "" ? { name, path: of, target: targetOf(values) } : null;
}

type Whose = { readonly official?: boolean; readonly team?: string; readonly project?: string; readonly user?: string };

function targetOf({ official = false, team, project, user }: Whose): SkillTarget {
  if (official) return { kind: "official" };
  if (project !== undefined) return { kind: "project", id: project };
  return user === undefined ? { kind: "team", name: team } : { kind: "user", email: user };
}

async function run(command: Command): Promise<string> {
  await using installation = await useInstallation();
  const { config, outside, store, cipher, making } = installation;
  if (command.name === "list") return await listSkills(store);
  if (command.name === "remove") {
    await store.change((tx) => removeSkill(tx, making(), command.id));
    return "";
  }
  const { staging } = filesOf({ ...outside, config, store, cipher, resolve: userNames(outside) });
  const packed = await readSkill(command.path);
  const staged = await stageSkill(staging, packed, { accountId: null, signal: new AbortController().signal });
  const { id, name } = await store.change((tx) => importSkill(tx, making(), command.target, staged));
  return `${id}  ${name}\n`;
}

await runCommand({ usage, parse }, run);
