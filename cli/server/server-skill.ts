import { buildRouteMap } from "@stricli/core";
import { stageSkill } from "../../src/core/skills/store-skill.ts";
import {
  importSkill,
  listSkills,
  readSkill,
  removeSkill,
  type SkillTarget,
} from "../../src/core/use-cases/import-skills.ts";
import { openFiles } from "../../src/modules/file-parts.ts";
import { processContext } from "../../src/modules/process-context.ts";
import { UsageError } from "../frame/failures.ts";
import { argument, exactly, switchFlag, textFlag } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";

interface ImportFlags extends InstallationFlags {
  readonly official?: boolean;
  readonly team?: string;
  readonly project?: string;
  readonly user?: string;
}

function targetOf({ official = false, team, project, user }: ImportFlags): SkillTarget {
  if ([official || undefined, team, project, user].filter((owner) => owner !== undefined).length > 1)
    throw new UsageError("give one of --official, --team, --project and --user");
  if (official) return { kind: "official" };
  if (project !== undefined) return { kind: "project", id: project };
  return user === undefined ? { kind: "team", name: team } : { kind: "user", email: user };
}

const importOne = installationCommand({
  brief: "Import a skill from a folder or a ZIP, and write its id and name",
  about: "A skill of the same owner and name is replaced. The owner is the first team by default.",
  examples: ["atp server-skill import ./minutes", "atp server-skill import minutes.zip --official"],
  parameters: {
    flags: {
      ...installationFlags,
      official: switchFlag("For all users"),
      team: textFlag("For a team", "NAME"),
      project: textFlag("For a project", "ID"),
      user: textFlag("For one person", "EMAIL"),
    },
    positional: exactly(argument("Folder with a SKILL.md, or a ZIP of it", "PATH")),
  },
  check: (flags: ImportFlags, _path: string) => void targetOf(flags),
  run: async (server: OnInstallation, flags: ImportFlags, path: string) => {
    const { config, ambient, store, creationContext, print } = server;
    const target = targetOf(flags);
    const { staging } = openFiles(processContext(config, server, ambient));
    const staged = await stageSkill(staging, await readSkill(path), {
      accountId: null,
      signal: new AbortController().signal,
    });
    const { id, name } = await store.change((tx) => importSkill(tx, creationContext(), target, staged));
    print.result({ id, name }, `${id}  ${name}`);
  },
});

const list = installationCommand({
  brief: "List the skills of all users: id, kind of the owner, space, bytes, name",
  examples: ["atp server-skill list", "atp server-skill list --json"],
  parameters: { flags: installationFlags },
  run: async ({ store, print }: OnInstallation) => {
    const all = await listSkills(store);
    const shown = all.map(({ id, ownerType, spaceId, bytes, name }) => ({
      id,
      owner_type: ownerType,
      space_id: spaceId,
      bytes,
      name,
    }));
    print.lines(shown, ({ id, owner_type, space_id, bytes, name }) =>
      [id, owner_type, space_id ?? "-", bytes, name].join("  "),
    );
  },
});

const remove = installationCommand({
  brief: "Delete a skill; tasks can no longer use it",
  examples: ["atp server-skill remove 8wErT5yUi2oPaS1dFgHjKl"],
  parameters: { flags: installationFlags, positional: exactly(argument("Id of the skill", "ID")) },
  run: async ({ store, creationContext }: OnInstallation, _flags: InstallationFlags, id: string) => {
    await store.change((tx) => removeSkill(tx, creationContext(), id));
  },
});

export const serverSkill = buildRouteMap({
  docs: { brief: "Import, list and delete skills of all users" },
  routes: { import: importOne, list, remove },
});
