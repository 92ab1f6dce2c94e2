import { Client, type ElicitRequestFormParams, type ElicitResult, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** How a client answers the forms that it shows. */
export type Answer = (form: ElicitRequestFormParams) => ElicitResult;

export interface ClientOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** Absent: the client shows no forms. */
  readonly answer?: Answer | undefined;
  /** A query, for instance `?tools=project`. */
  readonly query?: string;
  readonly extensions?: Readonly<Record<string, object>>;
}

/** A connected client of the current revision of the protocol. */
export async function mcpClient(url: string, { headers, answer, query = "", extensions }: ClientOptions): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: { ...(answer && { elicitation: { form: {} } }), ...(extensions && { extensions }) }, versionNegotiation: { mode: "auto" } },
  );
  if (answer) client.setRequestHandler("elicitation/create", async ({ params }) => answer(params as ElicitRequestFormParams));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), { requestInit: { headers: { ...headers } } }));
  return client;
}

/** The JSON of a tool's result. */
export function jsonOf(result: { readonly content: readonly object[] }): Record<string, never> & { [member: string]: never } {
  const [block] = result.content as readonly { readonly text: string }[];
  return JSON.parse(block?.text ?? "null");
}

/** The names of a client's tools, in alphabetical order. */
export const namesOf = async (client: Client): Promise<readonly string[]> => (await client.listTools()).tools.map(({ name }) => name).toSorted();

/** The error of a tool's result; undefined for a result without one. */
export const refusalOf = (result: { readonly content: readonly object[]; readonly isError?: boolean | undefined }): object | undefined =>
  result.isError ? jsonOf(result)["error"] : undefined;
