import { buildRouteMap } from "@stricli/core";
import type { AgentProfile } from "../../packages/client/src/index.ts";
import { defined } from "../../src/core/defined.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { needChange } from "../frame/json-input.ts";
import { argument, type ClientFlags, exactly, textFlag } from "../frame/parameters.ts";
import { type RuleEditFlags, ruleEditFlags, ruleEditOf, rulesText } from "./rules.ts";

const columns = [
  { title: "PROFILE", text: ({ id }: AgentProfile) => id },
  { title: "TITLE", text: ({ title }: AgentProfile) => title },
  { title: "RULES", text: ({ permissions }: AgentProfile) => rulesText(permissions) ?? "" },
];

const list = command({
  brief: "List the profiles of agents, the default first",
  examples: ["atp agent list"],
  parameters: { flags: clientFlags },
  run: async (cli: Cli, _flags: ClientFlags) => {
    cli.print.list((await cli.client().call("agentProfile.list")).data, columns, "There are no profiles.");
  },
});

interface UpdateFlags extends ClientFlags, RuleEditFlags {
  readonly title?: string;
}
const update = command({
  brief: "Change the title or the rules of a profile; what is not named stays",
  examples: ["atp agent update standard --ask bash", "atp agent update standard --no-rules"],
  about:
    "Only the owner of a space changes its profiles. --allow, --ask and --deny replace all rules of the profile.",
  parameters: {
    flags: { ...clientFlags, title: textFlag("New title"), ...ruleEditFlags },
    positional: exactly(argument("Profile of the agent", "PROFILE")),
  },
  run: async (cli: Cli, flags: UpdateFlags, profile: string) => {
    needChange(flags);
    const changes = { ...defined({ title: flags.title }), ...ruleEditOf(flags) };
    const answer = await cli.client().call("agentProfile.update", { agent_profile: profile, ...changes });
    cli.print.result(answer, profile);
  },
});

export const agentRoutes = buildRouteMap({
  docs: { brief: "Profiles of agents, and their rules" },
  routes: { list, update },
});
