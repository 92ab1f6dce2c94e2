import { buildRouteMap } from "@stricli/core";
import type { rpc } from "../../packages/client/src/index.ts";
import { defined } from "../../src/core/defined.ts";
import { readSecret } from "../frame/ask.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { CommandError } from "../frame/failures.ts";
import { argument, type ClientFlags, exactly, switchFlag, textFlag } from "../frame/parameters.ts";
import { wireForm } from "../frame/wire-form.ts";

type Installed = rpc.InstalledConnector;

interface ListFlags extends ClientFlags {
  readonly catalogue?: boolean;
}
const list = command({
  brief: "List the connectors that your tasks can use",
  examples: ["atp connector list", "atp connector list --catalogue"],
  parameters: { flags: { ...clientFlags, catalogue: switchFlag("All connectors that can be installed") } },
  run: async (cli: Cli, { catalogue = false }: ListFlags) => {
    const client = cli.client();
    if (catalogue) {
      const { data } = await client.call("connector.list");
      type Entry = (typeof data)[number];
      const columns = [
        { title: "ID", text: ({ id }: Entry) => id },
        { title: "NAME", text: ({ name }: Entry) => name },
      ];
      return cli.print.list(data, columns, "The catalogue is empty.");
    }
    const { data = [] } = await client.rpc("settings.v1.ConnectorService/ListInstalled");
    const columns = [
      { title: "ID", text: ({ id }: Installed) => id },
      { title: "STATE", text: ({ state }: Installed) => state?.replace(/^.*STATE_/, "").toLowerCase() },
      { title: "TOOLS", text: ({ tools }: Installed) => tools?.length },
      { title: "NAME", text: ({ name }: Installed) => name },
      { title: "URL", text: ({ url }: Installed) => url },
    ];
    cli.print.list(data, columns, "No connector is installed.", wireForm);
  },
});

interface AddFlags extends ClientFlags {
  readonly description?: string;
  readonly team?: boolean;
  readonly "header-name"?: string;
  readonly "header-value"?: string;
}
const add = command({
  brief: "Install a server of the Model Context Protocol",
  examples: ["atp connector add Wiki https://mcp.example.com/mcp --team"],
  about: "The value of the header is asked, or read from standard input, when --header-value is absent.",
  parameters: {
    flags: {
      ...clientFlags,
      description: textFlag("What the connector is for"),
      team: switchFlag("For all members of the team"),
      "header-name": textFlag("Header of every request, for a credential", "NAME"),
      "header-value": textFlag("Value of that header", "VALUE"),
    },
    positional: exactly(argument("Name of the connector", "NAME"), argument("Address of the server", "URL")),
  },
  run: async (cli: Cli, flags: AddFlags, name: string, url: string) => {
    const header = flags["header-name"];
    const value =
      header === undefined
        ? undefined
        : (flags["header-value"] ?? (await readSecret(cli.context, `Value of ${header}: `)));
    const answer = await cli.client().rpc("settings.v1.ConnectorService/InstallConnector", {
      name,
      http: {
        url,
        ...(header === undefined || value === undefined ? {} : { header: { name: header, value } }),
      },
      ...defined({ description: flags.description }),
      ...(flags.team ? { forSpace: true } : {}),
    });
    cli.print.result(wireForm(answer), answer.connector?.id ?? "");
  },
});

const connectorId = exactly(argument("Id of the connector", "ID"));

const test = command({
  brief: "Call the server of a connector",
  examples: ["atp connector test 8wErT5yUi2oPaS1dFgHjKl"],
  parameters: { flags: clientFlags, positional: connectorId },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    const answer = await cli.client().rpc("settings.v1.ConnectorService/TestConnector", { id });
    if (!answer.reachable)
      throw new CommandError(`the server cannot be used: ${answer.failure ?? "unknown reason"}`);
    cli.print.result(wireForm(answer), `${answer.tools ?? 0} tools\t${answer.latencyMs ?? 0} ms`);
  },
});

const remove = command({
  brief: "Remove a connector",
  examples: ["atp connector remove 8wErT5yUi2oPaS1dFgHjKl"],
  parameters: { flags: clientFlags, positional: connectorId },
  run: async (cli: Cli, _flags: ClientFlags, id: string) => {
    cli.print.result(
      { id, ...(await cli.client().rpc("settings.v1.ConnectorService/RemoveConnector", { id })) },
      id,
    );
  },
});

export const connectorRoutes = buildRouteMap({
  docs: { brief: "Connectors, whose tools agents use" },
  routes: { list, add, test, remove },
});
