import { buildRouteMap } from "@stricli/core";
import { type Cli, command } from "../frame/command.ts";
import type { CliContext } from "../frame/context.ts";
import { argument, exactly, jsonFlags } from "../frame/parameters.ts";
import { openProfiles } from "../profiles.ts";

interface Flags {
  readonly json?: boolean;
}

const list = command({
  brief: "List the profiles, without their credentials",
  examples: ["atp profile list"],
  parameters: { flags: jsonFlags },
  run: async (cli: Cli, _flags: Flags) => {
    const profiles = openProfiles(cli.context.process.env);
    const current = profiles.current()?.origin;
    const rows = profiles.all().map(({ name, origin, key }) => ({
      name,
      origin,
      credential: key === undefined ? "oauth" : "key",
      current: origin === current,
    }));
    const columns = [
      { title: "NAME", text: ({ name }: (typeof rows)[number]) => name },
      { title: "INSTALLATION", text: ({ origin }: (typeof rows)[number]) => origin },
      { title: "CREDENTIAL", text: ({ credential }: (typeof rows)[number]) => credential },
      { title: "", text: (row: (typeof rows)[number]) => (row.current ? "current" : "") },
    ];
    cli.print.list(rows, columns, "There are no profiles; run `atp login`.");
  },
});

const use = command({
  brief: "Make a profile the current one",
  examples: ["atp profile use work"],
  parameters: {
    flags: jsonFlags,
    positional: exactly(
      argument("Name of the profile", "NAME", function proposeNames(this: CliContext) {
        return openProfiles(this.process.env)
          .all()
          .map(({ name }) => name);
      }),
    ),
  },
  run: async (cli: Cli, _flags: Flags, name: string) => {
    const profiles = openProfiles(cli.context.process.env);
    const { origin } = profiles.named(name);
    profiles.use(origin);
    cli.print.result({ current: name, origin }, `Commands now use ${name} (${origin}).`);
  },
});

export const profileRoutes = buildRouteMap({
  docs: { brief: "List and choose profiles" },
  routes: { list, use },
});
