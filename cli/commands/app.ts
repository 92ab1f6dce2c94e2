import { buildRouteMap } from "@stricli/core";
import type { rpc } from "../../packages/client/src/index.ts";
import { defined } from "../../src/core/defined.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { UsageError } from "../frame/failures.ts";
import { argument, type ClientFlags, exactly, switchFlag, textFlag, textsFlag } from "../frame/parameters.ts";
import { wireForm } from "../frame/wire-form.ts";

type App = rpc.OAuth2App;
const scopeNames = [
  "create_task",
  "manage_all_tasks",
  "create_project",
  "use_connectors",
  "use_my_browsers",
  "profile",
  "email",
  "approve:task",
] as const;

const list = command({
  brief: "List the OAuth apps of the team",
  examples: ["atp app list"],
  parameters: { flags: clientFlags },
  run: async (cli: Cli, _flags: ClientFlags) => {
    const { data = [] } = await cli.client().rpc("oauth.v2.OAuth2AppService/ListOAuth2Apps");
    const columns = [
      { title: "CLIENT ID", text: ({ clientId }: App) => clientId },
      { title: "SCOPES", text: ({ scopeConfig }: App) => scopeConfig?.scopes?.join(" ") },
      { title: "NAME", text: ({ name }: App) => name },
    ];
    cli.print.list(data, columns, "There are no apps.", wireForm);
  },
});

interface CreateFlags extends ClientFlags {
  readonly redirect?: readonly string[];
  readonly scope?: readonly (typeof scopeNames)[number][];
  readonly description?: string;
  readonly loopback?: boolean;
  readonly device?: boolean;
}
const create = command({
  brief: "Register an OAuth app; its secret is shown once",
  examples: ["atp app create Reports --redirect https://reports.example.com/callback --scope create_task"],
  parameters: {
    flags: {
      ...clientFlags,
      redirect: textsFlag("Address to which users come back; may be given several times", "URL"),
      scope: {
        kind: "enum",
        brief: "What the app may ask for; may be given several times",
        values: scopeNames,
        optional: true,
        variadic: true,
      },
      description: textFlag("What the app does, for its users"),
      loopback: switchFlag("A redirect to http on 127.0.0.1 may have any port"),
      device: switchFlag("Users may sign in on another device, with a code"),
    },
    positional: exactly(argument("Name of the app", "NAME")),
  },
  run: async (
    cli: Cli,
    { redirect = [], scope = [], description, loopback = false, device = false }: CreateFlags,
    name: string,
  ) => {
    if (redirect.length === 0) throw new UsageError("--redirect: at least one address is needed");
    const answer = await cli.client().rpc("oauth.v2.OAuth2AppService/CreateOAuth2App", {
      name,
      redirectUris: redirect,
      scopeConfig: { scopes: scope },
      ...defined({ description }),
      ...(loopback ? { loopbackAnyPort: true } : {}),
      ...(device ? { deviceAuthorization: true } : {}),
    });
    cli.print.result(wireForm(answer), `${answer.app?.clientId}\t${answer.clientSecret ?? ""}`);
  },
});

const appId = exactly(argument("Client id of the app", "CLIENT_ID"));

const show = command({
  brief: "Show an OAuth app",
  examples: ["atp app show client_8wErT5yUi2oP"],
  parameters: { flags: clientFlags, positional: appId },
  run: async (cli: Cli, _flags: ClientFlags, clientId: string) => {
    const { app = {} } = await cli.client().rpc("oauth.v2.OAuth2AppService/GetOAuth2App", { clientId });
    cli.print.facts(wireForm(app), {
      "client id": app.clientId,
      name: app.name,
      description: app.description,
      scopes: app.scopeConfig?.scopes?.join(", "),
      redirects: app.redirectUris?.join(", "),
      "allowed origins": app.allowedOrigins?.join(", "),
      homepage: app.homepageUrl,
    });
  },
});

const remove = command({
  brief: "Delete an OAuth app; its tokens end",
  examples: ["atp app delete client_8wErT5yUi2oP"],
  parameters: { flags: clientFlags, positional: appId },
  run: async (cli: Cli, _flags: ClientFlags, clientId: string) => {
    cli.print.result(
      {
        client_id: clientId,
        ...(await cli.client().rpc("oauth.v2.OAuth2AppService/DeleteOAuth2App", { clientId })),
      },
      clientId,
    );
  },
});

export const appRoutes = buildRouteMap({
  docs: { brief: "OAuth apps of the team" },
  routes: { list, create, show, delete: remove },
});
