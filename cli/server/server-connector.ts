import { buildRouteMap } from "@stricli/core";
import { auditCommand } from "../../src/core/audit/audit.ts";
import type { InstalledConnector } from "../../src/core/connectors/connector.ts";
import type { ConnectorInput, ServerInput } from "../../src/core/connectors/connector-input.ts";
import { Failure } from "../../src/core/failure.ts";
import { findRecipient } from "../../src/core/keys/recipient.ts";
import type { Tx } from "../../src/core/store.ts";
import { openConnectors } from "../../src/modules/connector-parts.ts";
import { processContext } from "../../src/modules/process-context.ts";
import { readInput } from "../frame/ask.ts";
import type { CliContext } from "../frame/context.ts";
import { UsageError } from "../frame/failures.ts";
import { argument, exactly, switchFlag, textFlag } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";
import { type HolderFlags, holderFlags } from "./frame/parameters.ts";

type Flags = InstallationFlags & HolderFlags;

/** The connectors of the holder, and changes that are recorded in the audit log. */
async function connectorsOf(server: OnInstallation, { user, team }: HolderFlags) {
  const { config, ambient, store, creationContext } = server;
  const { connectors } = openConnectors(processContext(config, server, ambient));
  const recipient = await store.change((tx) => findRecipient(tx, { email: user, team, kind: "general" }));
  const change = <T>(rpc: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
    store.change(async (tx) => {
      const result = await work(tx);
      await auditCommand(tx, creationContext(), recipient, `settings.v1.ConnectorService/${rpc}`);
      return result;
    });
  return {
    connectors,
    change,
    holder: { ...recipient, role: "owner" } as const,
    gone: new AbortController().signal,
  };
}

const shown = ({ id, uid, accountId, state, tools, name }: InstalledConnector) => ({
  id,
  uid,
  for: accountId === null ? "space" : "user",
  state,
  tools: tools.length,
  name,
});

const lineOf = (connector: ReturnType<typeof shown>): string =>
  [
    connector.id,
    connector.uid,
    connector.for,
    connector.state,
    `${connector.tools} tools`,
    JSON.stringify(connector.name),
  ].join("  ");

interface InstallFlags extends Flags {
  readonly name?: string;
  readonly url?: string;
  readonly credential?: boolean;
  readonly header?: string;
  readonly command?: string;
  readonly uid?: string;
  readonly "for-space"?: boolean;
  readonly default?: boolean;
}

/** @throws UsageError for flags that do not fit together */
function inputOf({
  name = "",
  uid = "",
  url,
  header,
  command,
  credential = false,
  ...flags
}: InstallFlags): ConnectorInput {
  if (name === "" && uid === "")
    throw new UsageError("give --name, or --uid of a connector of the catalogue");
  if (url !== undefined && command !== undefined) throw new UsageError("give one of --url and --command");
  if (credential && url === undefined) throw new UsageError("--credential needs --url");
  if (header !== undefined && !credential) throw new UsageError("--header needs --credential");
  const more = { forSpace: flags["for-space"] ?? false, isDefault: flags.default ?? false };
  return { uid, name, description: "", category: "", ...more, server: serverOf(url, command) };
}

function serverOf(url: string | undefined, command: string | undefined): ServerInput {
  if (command !== undefined) return { kind: "command", name: command };
  return url === undefined ? { kind: "none" } : { kind: "http", url };
}

/** The largest credential, in characters. */
const credentialMax = 8_192;

/**
 * Adds the credential from standard input, where no list of processes shows it. @throws Failure
 * `invalid_argument`
 */
async function withCredential(
  context: CliContext,
  input: ConnectorInput,
  header: string,
): Promise<ConnectorInput> {
  if (input.server.kind !== "http") return input;
  const value = (await readInput(context)).trim();
  if (value === "" || value.length > credentialMax)
    throw new Failure(
      "invalid_argument",
      `standard input: must have a credential of 1 to ${credentialMax} characters`,
    );
  return { ...input, server: { ...input.server, header: { name: header, value } } };
}

const install = installationCommand({
  brief: "Install a connector, and write its line",
  examples: [
    "atp server-connector install --name Wiki --url https://mcp.example.com/mcp --for-space",
    'printf "Bearer %s" "$TOKEN" | atp server-connector install --name Wiki --url https://mcp.example.com/mcp --credential',
  ],
  parameters: {
    flags: {
      ...installationFlags,
      ...holderFlags,
      name: textFlag("Name of the connector, 1 to 100 characters; optional with --uid", "NAME"),
      url: textFlag("Address of its server", "URL"),
      credential: switchFlag(
        'Read the value of the server\'s header from standard input, for example "Bearer TOKEN"',
      ),
      header: textFlag("Name of that header, Authorization by default", "NAME"),
      command: textFlag("Command of CONNECTOR_COMMANDS, instead of --url", "NAME"),
      uid: textFlag("Id of a connector of the catalogue", "UID"),
      "for-space": switchFlag("For all members of the space"),
      default: switchFlag("New tasks that name no connectors have it"),
    },
  },
  check: (flags: InstallFlags) => void inputOf(flags),
  run: async (server: OnInstallation, flags: InstallFlags) => {
    const input = inputOf(flags);
    const { connectors, change, holder, gone } = await connectorsOf(server, flags);
    const complete = flags.credential
      ? await withCredential(server.context, input, flags.header ?? "")
      : input;
    const work = await connectors.prepareInstall(holder, complete, gone);
    const made = shown(await change("InstallConnector", (tx) => work(tx, holder)));
    server.print.result(made, lineOf(made));
  },
});

const list = installationCommand({
  brief: "List the connectors of a person and of the space: id, uid, for whom, state, tools, name",
  examples: ["atp server-connector list --user ann@example.com"],
  parameters: { flags: { ...installationFlags, ...holderFlags } },
  run: async (server: OnInstallation, flags: Flags) => {
    const { connectors, holder } = await connectorsOf(server, flags);
    server.print.lines((await connectors.list(server.store, holder)).map(shown), lineOf);
  },
});

const connectorId = exactly(argument("Id of the connector", "ID"));

const test = installationCommand({
  brief: "Test whether the server of a connector lists its tools",
  examples: ["atp server-connector test 8wErT5yUi2oPaS1dFgHjKl"],
  parameters: { flags: { ...installationFlags, ...holderFlags }, positional: connectorId },
  run: async (server: OnInstallation, flags: Flags, id: string) => {
    const { connectors, change, holder, gone } = await connectorsOf(server, flags);
    const { failure, tools, latencyMs } = await change(
      "TestConnector",
      await connectors.prepareTest(holder, id, gone),
    );
    if (failure !== null)
      throw new Failure("unavailable", `the connector cannot be used: ${failure}, after ${latencyMs} ms`);
    server.print.result({ tools, latency_ms: latencyMs }, `${tools} tools  ${latencyMs} ms`);
  },
});

const remove = installationCommand({
  brief: "Remove a connector with its credential",
  examples: ["atp server-connector remove 8wErT5yUi2oPaS1dFgHjKl"],
  parameters: { flags: { ...installationFlags, ...holderFlags }, positional: connectorId },
  run: async (server: OnInstallation, flags: Flags, id: string) => {
    const { connectors, change, holder } = await connectorsOf(server, flags);
    await change("RemoveConnector", (tx) => connectors.remove(tx, holder, id));
  },
});

export const serverConnector = buildRouteMap({
  docs: { brief: "Install, list, test and remove connectors of a person or a space" },
  routes: { install, list, test, remove },
});
