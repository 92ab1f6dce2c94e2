import { buildRouteMap } from "@stricli/core";
import type { Project } from "../../packages/client/src/index.ts";
import { defined } from "../../src/core/defined.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { needChange } from "../frame/json-input.ts";
import { argument, type ClientFlags, exactly, textFlag } from "../frame/parameters.ts";
import { timeText } from "../frame/print.ts";
import { type RuleEditFlags, ruleEditFlags, ruleEditOf, rulesText } from "./rules.ts";

const columns = [
  { title: "ID", text: ({ id }: Project) => id },
  { title: "CREATED", text: ({ created_at }: Project) => timeText(created_at) },
  { title: "NAME", text: ({ name }: Project) => name },
];
const projectId = argument("Id of the project", "ID");

const list = command({
  brief: "List projects",
  examples: ["atp project list"],
  parameters: { flags: clientFlags },
  run: async (cli: Cli, _flags: ClientFlags) => {
    cli.print.list((await cli.client().call("project.list")).data, columns, "There are no projects.");
  },
});

interface CreateFlags extends ClientFlags {
  readonly instruction?: string;
}
const create = command({
  brief: "Create a project",
  examples: ['atp project create Invoices --instruction "Amounts are in euros."'],
  parameters: {
    flags: {
      ...clientFlags,
      instruction: textFlag("Instruction for the agent, in each task of the project"),
    },
    positional: exactly(argument("Name of the project", "NAME")),
  },
  run: async (cli: Cli, { instruction }: CreateFlags, name: string) => {
    const { project } = await cli.client().call("project.create", { name, ...defined({ instruction }) });
    cli.print.result(project, project.id);
  },
});

interface UpdateFlags extends CreateFlags, RuleEditFlags {
  readonly name?: string;
}
const update = command({
  brief: "Change the name, the instruction or the rules of a project; what is not named stays",
  examples: [
    "atp project update 8wErT5yUi2oPaS1dFgHjKl --name Bills",
    'atp project update 8wErT5yUi2oPaS1dFgHjKl --ask bash --deny "connector.mail"',
  ],
  about: "--allow, --ask and --deny replace all rules of the project.",
  parameters: {
    flags: {
      ...clientFlags,
      name: textFlag("New name"),
      instruction: textFlag("New instruction"),
      ...ruleEditFlags,
    },
    positional: exactly(projectId),
  },
  run: async (cli: Cli, flags: UpdateFlags, id: string) => {
    needChange(flags);
    const { name, instruction } = flags;
    const changes = { ...defined({ name, instruction }), ...ruleEditOf(flags) };
    const answer = await cli.client().call("project.update", { project_id: id, ...changes });
    cli.print.result(answer, id);
  },
});

const show = command({
  brief: "Show a project",
  examples: ["atp project show 8wErT5yUi2oPaS1dFgHjKl"],
  parameters: { flags: clientFlags, positional: exactly(projectId) },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    const { project } = await cli.client().call("project.detail", { project_id: id });
    const { name, instruction, task_count: taskCount, permissions, created_at } = project;
    cli.print.facts(project, {
      id,
      name,
      instruction,
      rules: rulesText(permissions),
      tasks: taskCount,
      created: timeText(created_at),
    });
  },
});

const remove = command({
  brief: "Delete a project, with its skills and budgets; its tasks stay",
  examples: ["atp project delete 8wErT5yUi2oPaS1dFgHjKl"],
  parameters: { flags: clientFlags, positional: exactly(projectId) },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    cli.print.result(
      { project_id: id, ...(await cli.client().call("project.delete", { project_id: id })) },
      id,
    );
  },
});

export const projectRoutes = buildRouteMap({
  docs: { brief: "Projects, which tasks join" },
  routes: { list, create, show, update, delete: remove },
});
