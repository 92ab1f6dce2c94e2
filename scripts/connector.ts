// `npm run --silent connector -- install --name NAME --url URL`: installs a connector; also lists, tests and removes connectors.
import { text } from "node:stream/consumers";
import { auditCommand } from "../src/core/audit/audit.ts";
import type { InstalledConnector } from "../src/core/connectors/connector.ts";
import type { ConnectorInput, ServerInput } from "../src/core/connectors/connector-input.ts";
import { Failure } from "../src/core/failure.ts";
import { findRecipient } from "../src/core/keys/recipient.ts";
import type { Tx } from "../src/core/store.ts";
import { createConnectors } from "../src/wiring/connectors.ts";
import { processContext } from "../src/wiring/process-context.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation, textOption } from "./command.ts";

const usage = `usage: npm run --silent connector -- install --name NAME (--url URL [--credential [--header NAME]] | --command NAME)
                                             [--uid UID] [--for-space] [--default] [--user EMAIL] [--team NAME]
       npm run --silent connector -- list [--user EMAIL] [--team NAME]
       npm run --silent connector -- test ID [--user EMAIL] [--team NAME]
       npm run --silent connector -- remove ID [--user EMAIL] [--team NAME]

  install       installs a connector and prints its line
  list          prints one line for each connector of the user and of the space: ID, UID, for whom, state, tools, name
  test          tests whether the server lists its tools; exit code 1 when it does not
  remove        removes a connector with its credential
  --name        the connector's name, 1 to 100 characters; optional with --uid
  --url         the address of its server
  --credential  reads the value of the server's header from standard input, for example "Bearer TOKEN"
  --header      the name of that header; default: Authorization
  --command     a command of CONNECTOR_COMMANDS, instead of --url
  --uid         the id of a connector of the catalogue
  --for-space   installs the connector for all members of the space
  --default     new tasks that name no connectors have it
  --user        the holder's e-mail address; default: the team's owner
  --team        the team's name; default: the first team
`;

const flag = { type: "boolean" } as const;
const holderOptions = { user: textOption, team: textOption } as const;
const options = {
  ...holderOptions,
  ...{ name: textOption, url: textOption, header: textOption, command: textOption, uid: textOption },
  ...{ credential: flag, "for-space": flag, default: flag },
} as const;
type Values = OptionValues<typeof options>;
/** Whose connector it is: `undefined` for the default. */
interface Holder {
  readonly user: string | undefined;
  readonly team: string | undefined;
}
type Install = Holder & {
  readonly verb: "install";
  readonly input: ConnectorInput;
  /** The name of the header whose value is on standard input; empty for `Authorization`. */
  readonly header: string | null;
};
type Command = Install | (Holder & { readonly verb: "list" }) | (Holder & { readonly verb: "test" | "remove"; readonly id: string });

function read(values: Values, [verb, id, ...more]: readonly string[]): Command | null {
  const { user, team, ...others } = values;
  const holder = { user, team };
  if (verb === "install" && id === undefined) return readInstall(values);
  if (Object.keys(others).length > 0 || more.length > 0) return null;
  if (verb === "list" && id === undefined) return { verb, ...holder };
  return (verb === "test" || verb === "remove") && id !== undefined ? { verb, id, ...holder } : null;
}

function readInstall(values: Values): Install | null {
  const { name = "", uid = "", url, header = "", command, credential = false, user, team } = values;
  const isClear = (name !== "" || uid !== "") && (url === undefined || command === undefined);
  if (!isClear || (credential && url === undefined) || (header !== "" && !credential)) return null;
  const flags = { forSpace: values["for-space"] ?? false, isDefault: values.default ?? false };
  const input = { uid, name, description: "", category: "", ...flags, server: serverOf(url, command) };
  return { verb: "install", input, header: credential ? header : null, user, team };
}

function serverOf(url: string | undefined, command: string | undefined): ServerInput {
  if (command !== undefined) return { kind: "command", name: command };
  return url === undefined ? { kind: "none" } : { kind: "http", url };
}

/** The largest credential, in characters. */
const credentialMax = 8_192;

/** Adds the credential from standard input, where no list of processes shows it. @throws Failure `invalid_argument` */
async function withCredential({ input, header }: Install): Promise<ConnectorInput> {
  if (header === null || input.server.kind !== "http") return input;
  const value = (await text(process.stdin)).trim();
  if (value === "" || value.length > credentialMax)
    throw new Failure("invalid_argument", `standard input: must have a credential of 1 to ${credentialMax} characters`);
  return { ...input, server: { ...input.server, header: { name: header, value } } };
}

const lineOf = ({ id, uid, accountId, state, tools, name }: InstalledConnector): string =>
  `${[id, uid, accountId === null ? "space" : "user", state, `${tools.length} tools`, JSON.stringify(name)].join("  ")}\n`;

async function run(command: Command, installation: OpenedInstallation): Promise<string> {
  const { config, ambient, store, creationContext: making } = installation;
  const { connectors } = createConnectors(processContext(config, installation, ambient));
  const recipient = await store.change((tx) => findRecipient(tx, { email: command.user, team: command.team, kind: "general" }));
  const holder = { ...recipient, role: "owner" } as const;
  const gone = new AbortController().signal;
  const change = <T>(rpc: string, work: (tx: Tx) => Promise<T>): Promise<T> =>
    store.change(async (tx) => {
      const result = await work(tx);
      await auditCommand(tx, making(), recipient, `settings.v1.ConnectorService/${rpc}`);
      return result;
    });
  switch (command.verb) {
    case "list":
      return (await connectors.list(store, holder)).map(lineOf).join("");
    case "install": {
      const install = await connectors.prepareInstall(holder, await withCredential(command), gone);
      return lineOf(await change("InstallConnector", (tx) => install(tx, holder)));
    }
    case "test": {
      const { failure, tools, latencyMs } = await change("TestConnector", await connectors.prepareTest(holder, command.id, gone));
      if (failure !== null) throw new Failure("unavailable", `the connector cannot be used: ${failure}, after ${latencyMs} ms`);
      return `${tools} tools  ${latencyMs} ms\n`;
    }
    case "remove":
      await change("RemoveConnector", (tx) => connectors.remove(tx, holder, command.id));
      return "";
  }
}

await runOnInstallation({ usage, options, acceptsPositionals: true, read }, run);
