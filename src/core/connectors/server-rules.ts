import { invalid } from "../failure.ts";
import { readUri, webFlaw } from "../oauth/uri.ts";
import type { ConnectorServer } from "./connector.ts";
import { type Credentials, noTokens } from "./credentials.ts";

/** A server as somebody wants it. */
export type WantedServer =
  | {
      readonly kind: "http";
      readonly url: string;
      readonly header?: { readonly name: string; readonly value: string };
      /** How we are known to its authorization server; an empty id: not yet. */
      readonly oauth?: { readonly clientId: string; readonly clientSecret: string };
    }
  | { readonly kind: "command"; readonly name: string }
  | { readonly kind: "none" };

/** What the operator allows. */
export interface ServerRules {
  /** Plain http to this machine. */
  readonly plainLoopback: boolean;
  /** Names of commands. */
  readonly commands: readonly string[];
}

/** A server as it is kept, and what opens it. */
export interface CheckedServer {
  readonly server: ConnectorServer;
  readonly credentials: Credentials | null;
}

/** They are the transport's own: a credential in one of them would break it, or lead it elsewhere. */
const reserved =
  /^(host|content-.*|transfer-encoding|connection|upgrade|te|trailer|expect|accept.*|mcp-.*|cookie|origin|referer|user-agent|proxy-.*)$/i;
const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** @throws Failure `invalid` */
export function checkServer(wanted: WantedServer, rules: ServerRules): CheckedServer {
  if (wanted.kind === "none") return { server: { transport: "none" }, credentials: null };
  if (wanted.kind === "command") {
    if (!rules.commands.includes(wanted.name)) throw invalid("command", "is not one that the operator allows");
    return { server: { transport: "stdio", command: wanted.name }, credentials: null };
  }
  const url = readServerUrl(wanted.url, rules);
  const { header, oauth } = wanted;
  if (header) {
    const name = header.name || "Authorization";
    if (reserved.test(name)) throw invalid("http.header.name", "is no header that a credential may go in");
    if (!/^[\x20-\x7e]+$/.test(header.value)) throw invalid("http.header.value", "must have printable ASCII characters only");
    return { server: { transport: "http", url, auth: "header", header: name }, credentials: { kind: "header", value: header.value } };
  }
  if (!oauth) return { server: { transport: "http", url, auth: "none", header: "" }, credentials: null };
  const { clientId, clientSecret } = oauth;
  const client = clientId === "" ? null : { client_id: clientId, ...(clientSecret === "" ? {} : { client_secret: clientSecret }) };
  return { server: { transport: "http", url, auth: "oauth", header: "" }, credentials: { ...noTokens, client } };
}

/** Where its host leads is looked at by whoever connects, each time. */
function readServerUrl(text: string, { plainLoopback }: ServerRules): string {
  const uri = readUri(text);
  const flaw = typeof uri === "string" ? uri : flawOf(text, uri, plainLoopback);
  if (flaw !== undefined) throw invalid("http.url", `is no address of a server: ${flaw}`);
  return text;
}

function flawOf(text: string, uri: Exclude<ReturnType<typeof readUri>, string>, plainLoopback: boolean): string | undefined {
  if (text.includes("#")) return "must have no fragment";
  const isLoopback = loopbackHost.test(uri.authority?.host.toLowerCase() ?? "");
  if (uri.scheme !== "https" && !(plainLoopback && uri.scheme === "http" && isLoopback)) return "must begin with https://";
  return webFlaw(text, uri);
}
