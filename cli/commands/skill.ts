import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { buildRouteMap } from "@stricli/core";
import { parse } from "yaml";
import { ZipFile } from "yazl";
import type { Client, rpc } from "../../packages/client/src/index.ts";
import { defined } from "../../src/core/defined.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { CommandError, UsageError } from "../frame/failures.ts";
import { argument, type ClientFlags, exactly, switchFlag, textFlag } from "../frame/parameters.ts";
import { wireForm } from "../frame/wire-form.ts";

type Skill = rpc.Skill;

interface ListFlags extends ClientFlags {
  readonly project?: string;
}
const ownerOf = ({ ownerType }: Skill): string =>
  ownerType?.replace("SKILL_OWNER_TYPE_", "").toLowerCase() ?? "";

const list = command({
  brief: "List the skills that your tasks can use",
  examples: ["atp skill list"],
  parameters: { flags: { ...clientFlags, project: textFlag("Also the skills of this project", "ID") } },
  run: async (cli: Cli, { project }: ListFlags) => {
    const { data = [] } = await cli
      .client()
      .rpc("settings.v1.SkillService/ListSkills", project === undefined ? {} : { projectId: project });
    const columns = [
      { title: "ID", text: ({ id }: Skill) => id },
      { title: "OWNER", text: ownerOf },
      { title: "ENABLED", text: ({ enabled = false }: Skill) => (enabled ? "yes" : "no") },
      { title: "NAME", text: ({ name }: Skill) => name },
      { title: "PURPOSE", text: ({ description }: Skill) => description },
    ];
    cli.print.list(data, columns, "There are no skills.", wireForm);
  },
});

/** The largest archive that a call takes; larger ones are uploaded as a file first. */
const archiveMax = 8 * 1024 * 1024;
const bytesMax = 50 * 1024 * 1024;

/** All files below a folder as a ZIP. @throws CommandError for links and too many bytes */
async function zipOf(folder: string): Promise<Buffer> {
  const zip = new ZipFile();
  let total = 0;
  for (const entry of (await readdir(folder, { recursive: true, withFileTypes: true })).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(join(folder, "/").length).replaceAll("\\", "/");
    if (entry.isDirectory() || /(^|\/)(\.git\/|\.DS_Store$)/.test(name)) continue;
    if (!entry.isFile()) throw new CommandError(`${path}: is a link, or not a regular file`);
    const bytes = await readFile(path);
    total += bytes.byteLength;
    if (total > bytesMax) throw new CommandError(`${folder}: a skill has at most 50 MB`);
    zip.addBuffer(bytes, name);
  }
  zip.end();
  return await buffer(zip.outputStream);
}

/** The name in the front matter of SKILL.md. @throws CommandError when it has none */
async function nameIn(folder: string): Promise<string> {
  const text = await readFile(join(folder, "SKILL.md"), "utf8").catch(() => undefined);
  const [, matter] = /^\ufeff?---[ \t]*\r?\n([\s\S]*?)\r?\n---/.exec(text ?? "") ?? [];
  const found: unknown = matter === undefined ? undefined : parse(matter);
  const name = typeof found === "object" && found !== null && "name" in found ? found.name : undefined;
  if (typeof name !== "string")
    throw new CommandError(`${folder}: needs a SKILL.md that begins with --- and has a name`);
  return name;
}

async function contentOf(
  client: Client,
  archive: Buffer,
  name: string,
): Promise<{ archive: string } | { fileId: string }> {
  if (archive.byteLength <= archiveMax) return { archive: archive.toString("base64") };
  const { id } = await client.files.upload(new Uint8Array(archive), { filename: `${name}.zip` });
  return { fileId: id };
}

interface PushFlags extends ClientFlags {
  readonly team?: boolean;
  readonly project?: string;
}
const push = command({
  brief: "Add a skill from a folder; a skill of the same owner and name is replaced",
  examples: ["atp skill push ./minutes", "atp skill push ./minutes --team"],
  parameters: {
    flags: {
      ...clientFlags,
      team: switchFlag("For all members of the team"),
      project: textFlag("For the tasks of a project", "ID"),
    },
    positional: exactly(argument("Folder with a SKILL.md", "FOLDER")),
  },
  run: async (cli: Cli, { team = false, project }: PushFlags, folder: string) => {
    if (team && project !== undefined) throw new UsageError("give one of --team and --project");
    if (!(await stat(folder)).isDirectory()) throw new UsageError(`${folder}: must be a folder`);
    const name = await nameIn(folder);
    const client = cli.client();
    const content = await contentOf(client, await zipOf(folder), basename(folder));
    const ownerType =
      `SKILL_OWNER_TYPE_${team ? "TEAM" : project === undefined ? "PERSONAL" : "PROJECT"}` as const;
    const { data = [] } = await client.rpc(
      "settings.v1.SkillService/ListSkills",
      project === undefined ? {} : { projectId: project },
    );
    const id = data.find((skill) => skill.name === name && skill.ownerType === ownerType)?.id;
    const answer =
      id === undefined
        ? await client.rpc("settings.v1.SkillService/CreateSkill", {
            ownerType,
            ...content,
            ...defined({ projectId: project }),
          })
        : await client.rpc("settings.v1.SkillService/ReplaceSkillContent", { id, ...content });
    cli.print.result(
      wireForm(answer),
      `${answer.skill?.id ?? id}\t${name}\t${id === undefined ? "added" : "replaced"}`,
    );
  },
});

const remove = command({
  brief: "Delete a skill",
  examples: ["atp skill delete 8wErT5yUi2oPaS1dFgHjKl"],
  parameters: { flags: clientFlags, positional: exactly(argument("Id of the skill", "ID")) },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    cli.print.result({ id, ...(await cli.client().rpc("settings.v1.SkillService/DeleteSkill", { id })) }, id);
  },
});

export const skillRoutes = buildRouteMap({
  docs: { brief: "Skills, which agents load" },
  routes: { list, push, delete: remove },
});
