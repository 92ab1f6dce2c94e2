import { readFile } from "node:fs/promises";
import {
  type OperationName,
  operationNames,
  type RpcName,
  rpcNames,
} from "../../packages/client/src/index.ts";
import { readInput } from "../frame/ask.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import type { CliContext } from "../frame/context.ts";
import { UsageError } from "../frame/failures.ts";
import { parseObject } from "../frame/json-input.ts";
import {
  type ClientFlags,
  exactly,
  optionalArgument,
  switchFlag,
  textFlag,
  textsFlag,
} from "../frame/parameters.ts";
import { rightsOf } from "../rights.ts";
import { fieldNames, withFields } from "./api-fields.ts";

interface ApiFlags extends ClientFlags {
  readonly field?: readonly string[];
  readonly input?: string;
  readonly list?: boolean;
}

const isOperation = (name: string): name is OperationName =>
  (operationNames as readonly string[]).includes(name);
const isRpc = (name: string): name is RpcName => (rpcNames as readonly string[]).includes(name);

function proposeOperations(this: CliContext, partial: string): readonly string[] {
  return [...operationNames, ...rpcNames].filter((name) => name.startsWith(partial));
}

/** Fields of the operation in the line that is completed; the frame passes the line in the environment. */
function proposeFields(this: CliContext, partial: string): readonly string[] {
  const line = (this.process.env["ATP_COMPLETED_LINE"] ?? "").split("\n");
  const operation = line.find(isOperation);
  return operation === undefined
    ? []
    : fieldNames(operation).flatMap((name) => (name.startsWith(partial) ? [`${name}=`] : []));
}

async function inputOf(cli: Cli, source: string | undefined): Promise<string> {
  if (source === undefined) return "{}";
  return source === "-" ? await readInput(cli.context) : await readFile(source, "utf8");
}

/** Lists the operations, and whether the credential may call each, by the rule that admits calls. */
async function listOperations(cli: Cli): Promise<void> {
  const { mayCall } = await import("../../src/pipeline/access.ts");
  const { operationTable } = await import("../../src/pipeline/operations.ts");
  const rights = rightsOf(await cli.client().users.me());
  const { byName, byRpc } = operationTable();
  const rows = [...operationNames, ...rpcNames].flatMap((name) => {
    const operation = byName(name) ?? byRpc(name);
    return operation ? [{ name, may_call: mayCall(operation, rights) }] : [];
  });
  const columns = [
    { title: "OPERATION", text: ({ name }: (typeof rows)[number]) => name },
    { title: "MAY CALL", text: (row: (typeof rows)[number]) => (row.may_call ? "yes" : "no") },
  ];
  cli.print.list(rows, columns, "");
}

export const api = command({
  brief: "Call any operation of the API, and write its answer as JSON",
  examples: [
    "atp api task.list --field limit=5 --field statuses=waiting",
    'atp api task.create --field message.content="Say hello"',
    "atp api schedule.create --input schedule.json",
    "atp api settings.v1.WorkerService/ListWorkers",
    "atp api --list",
  ],
  about:
    "A field is NAME=VALUE, with the type that the description of the API says, or NAME:=JSON. A dot leads into an object; a list takes one item from each field with its name. The names of operations and fields are completed. --list writes the operations of this release, with whether the key or token may call each.",
  parameters: {
    flags: {
      ...clientFlags,
      field: textsFlag("Member of the request; may be given several times", "NAME=VALUE", proposeFields),
      input: textFlag("Request as JSON: a file, or - for standard input; fields are added to it", "PATH"),
      list: switchFlag("List the operations instead, with those that the key or token may call"),
    },
    aliases: { f: "field" },
    positional: exactly(
      optionalArgument("Name of the operation, for example task.list", "OPERATION", proposeOperations),
    ),
  },
  run: async (cli: Cli, { field = [], input, list }: ApiFlags, name?: string) => {
    if (list) return listOperations(cli);
    if (name === undefined) throw new UsageError("OPERATION: is required; atp api --list has all");
    if (!isOperation(name) && !isRpc(name))
      throw new UsageError(
        `OPERATION: there is no ${name} that answers once; docs/reference/operations.md has all`,
      );
    const request = withFields(name, parseObject("--input", await inputOf(cli, input)), field);
    const client = cli.client();
    // The server checks the request. One name is written for all, because the types know only single names.
    const answer: unknown = isOperation(name)
      ? await client.call(name as "user.me", request)
      : await client.rpc(name as "settings.v1.WorkerService/ListWorkers", request);
    cli.print.value(answer);
  },
});
