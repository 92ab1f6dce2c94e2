// `npm run --silent skill -- import PATH [--official]`: imports a skill from a folder or a ZIP; `list` lists all skills, `remove ID` deletes one.
import { stageSkill } from "../src/core/skills/store-skill.ts";
import { importSkill, listSkills, readSkill, removeSkill, type SkillTarget } from "../src/core/use-cases/import-skills.ts";
import { createFiles } from "../src/wiring/files.ts";
import { processContext } from "../src/wiring/process-context.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation, textOption } from "./command.ts";

const usage = `usage: npm run --silent skill -- import FOLDER|ZIP [--official | --team NAME | --project ID | --user EMAIL]
       npm run --silent skill -- list
       npm run --silent skill -- remove ID

  import      imports a skill, replaces one with the same name, and prints its ID and name; default owner: the first team
  --official  for all users
  --team      for a team
  --project   for a project
  --user      for one user
  list        lists all skills: ID, owner type, space, bytes, name
  remove      deletes a skill; tasks can no longer use it
`;

/** A parsed command. */
type Command =
  | { readonly name: "import"; readonly path: string; readonly target: SkillTarget }
  | { readonly name: "list" }
  | { readonly name: "remove"; readonly id: string };

const options = { official: { type: "boolean" }, team: textOption, project: textOption, user: textOption } as const;

function read(values: OptionValues<typeof options>, [name, argument = "", ...more]: readonly string[]): Command | null {
  if (more.length > 0 || Object.keys(values).length > (name === "import" ? 1 : 0)) return null;
  if (name === "list" && argument === "") return { name };
  if (name === "remove" && argument !== "") return { name, id: argument };
  return name === "import" && argument !== "" ? { name, path: argument, target: targetOf(values) } : null;
}

function targetOf({ official = false, team, project, user }: OptionValues<typeof options>): SkillTarget {
  if (official) return { kind: "official" };
  if (project !== undefined) return { kind: "project", id: project };
  return user === undefined ? { kind: "team", name: team } : { kind: "user", email: user };
}

async function run(command: Command, installation: OpenedInstallation): Promise<string> {
  const { config, ambient: outside, store, creationContext: making } = installation;
  if (command.name === "list") return await listSkills(store);
  if (command.name === "remove") {
    await store.change((tx) => removeSkill(tx, making(), command.id));
    return "";
  }
  const { staging } = createFiles(processContext(config, installation, outside));
  const packed = await readSkill(command.path);
  const staged = await stageSkill(staging, packed, { accountId: null, signal: new AbortController().signal });
  const { id, name } = await store.change((tx) => importSkill(tx, making(), command.target, staged));
  return `${id}  ${name}\n`;
}

await runOnInstallation({ usage, options, acceptsPositionals: true, read }, run);
