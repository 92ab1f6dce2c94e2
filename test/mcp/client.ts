import {
  Client,
  type ElicitRequestFormParams,
  type ElicitResult,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";

/** How a client answers the forms that it shows. */
export type Answer = (form: ElicitRequestFormParams) => ElicitResult;

export interface ClientOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: the client shows no forms. */
  readonly answer?: Answer | undefined;
  /** A query, for instance `?tools=project`. */
  readonly query?: string;
}

/** A client of the current revision of the protocol. */
export function newClient({ answer }: Pick<ClientOptions, "answer"> = {}): Client {
  const capabilities = answer ? { elicitation: { form: {} } } : {};
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities, versionNegotiation: { mode: "auto" } },
  );
  if (answer)
    client.setRequestHandler("elicitation/create", async ({ params }) =>
      answer(params as ElicitRequestFormParams),
    );
  return client;
}

/** A connected client of /mcp. */
export async function mcpClient(
  url: string,
  { headers, answer, query = "" }: ClientOptions,
): Promise<Client> {
  const client = newClient({ answer });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), {
      requestInit: { headers: { ...headers } },
    }),
  );
  return client;
}

/** The JSON of a tool's result. */
// biome-ignore lint/suspicious/noExplicitAny: a result is read as the client sees it, member by member
export function jsonOf(result: { readonly content: readonly object[] }): Record<string, any> {
  const [block] = result.content as readonly { readonly text: string }[];
  return JSON.parse(block?.text ?? "null");
}

/** The names of a client's tools, in alphabetical order. */
export const namesOf = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name).toSorted();

/** The error of a tool's result; undefined for a result without one. */
export const refusalOf = (result: {
  readonly content: readonly object[];
  readonly isError?: boolean | undefined;
}): unknown => (result.isError ? jsonOf(result)["error"] : undefined);
