import { once } from "node:events";
import { createServer } from "node:net";
import { type Config, ConfigError } from "./config.ts";
import { causeText } from "./core/root-cause.ts";

/** An address to listen on, and the variable that names its port. */
export interface ListenAddress {
  readonly variable: "PORT" | "ADMIN_PORT";
  readonly host: string;
  readonly port: number;
}

/** The addresses that a configuration listens on. */
export const listenAddresses = ({ host, port, adminPort }: Pick<Config, "host" | "port" | "adminPort">): readonly ListenAddress[] => [
  { variable: "PORT", host, port },
  ...(adminPort === null ? [] : [{ variable: "ADMIN_PORT" as const, host, port: adminPort }]),
];

/**
 * Listens on an address for a moment: a start that cannot serve then fails before it has made anything.
 *
 * @throws ConfigError as `listenFailure`.
 */
export async function tryListening(address: ListenAddress): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen({ host: address.host, port: address.port }), "listening");
  } catch (thrown) {
    throw listenFailure(thrown, address);
  }
  server.close();
  await once(server, "close");
}

/** Why an address cannot be listened on, with the variable to change. */
export function listenFailure(thrown: unknown, { variable, host, port }: ListenAddress): ConfigError {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  const [named, what] = reasons[String(code)] ?? [variable, "cannot be listened on"];
  const text = `${named === "PORT" ? variable : named}: ${host.includes(":") ? `[${host}]` : host}:${port} ${what} (${causeText(thrown)})`;
  return new ConfigError([{ variable: named, text }]);
}

/** By the system's code: the variable to change, and what is wrong. */
const reasons: Readonly<Record<string, readonly ["HOST" | "PORT", string]>> = {
  EADDRINUSE: ["PORT", "is taken by another process: stop it, or choose another port"],
  EACCES: ["PORT", "may not be listened on by this user: choose a port above 1023"],
  EADDRNOTAVAIL: ["HOST", "is no address of this machine"],
  ENOTFOUND: ["HOST", "has no address"],
};
