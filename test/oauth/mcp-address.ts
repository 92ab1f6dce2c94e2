import { type Posted, post, rpc } from "../mcp/post.ts";
import type { Service } from "../support/service.ts";

/** The answer of /mcp to a credential: its status, and how to sign in. */
export interface AtMcp {
  readonly status: number;
  readonly challenge: string | null;
  readonly message: Posted["message"];
}

/** Lists the tools at /mcp with these headers. */
export async function atMcp(
  { url }: Pick<Service, "url">,
  headers: Readonly<Record<string, string>>,
): Promise<AtMcp> {
  const { status, headers: answered, message } = await post(`${url}/mcp`, headers, rpc("tools/list"));
  return { status, challenge: answered.get("www-authenticate"), message };
}
