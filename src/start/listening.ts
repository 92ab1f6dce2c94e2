import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/variable.ts";
import { causeText } from "../core/failure.ts";

/** An address to listen on, and the variable that names its port. */
export interface ListenAddress {
  readonly variable: "PORT" | "ADMIN_PORT";
  readonly host: string;
  readonly port: number;
}

export const listenAddresses = ({
  host,
  port,
  admin,
}: Pick<Config, "host" | "port" | "admin">): readonly ListenAddress[] => [
  { variable: "PORT", host, port },
  ...(admin === null ? [] : [{ variable: "ADMIN_PORT" as const, host: admin.host, port: admin.port }]),
];

/**
 * Listens on an address briefly, so that a start that cannot serve fails before it creates anything.
 *
 * @throws ConfigError as `listenFailure`.
 */
export async function checkListenAddress(address: ListenAddress): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen({ host: address.host, port: address.port }), "listening");
  } catch (thrown) {
    throw listenFailure(thrown, address);
  }
  server.close();
  await once(server, "close");
}

/** The error for an address that cannot be listened on, with the variable to change. */
export function listenFailure(thrown: unknown, { variable, host, port }: ListenAddress): ConfigError {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  const [target, reason] = reasons[String(code)] ?? ["PORT", "cannot be listened on"];
  const name = target === "PORT" ? variable : hostOf[variable];
  const text = `${name}: ${host.includes(":") ? `[${host}]` : host}:${port} ${reason} (${causeText(thrown)})`;
  return new ConfigError([{ variable: name, text }]);
}

/** The variable of the address, by that of the port. */
const hostOf = { PORT: "HOST", ADMIN_PORT: "ADMIN_HOST" } as const;

/** By the system's error code: the variable to change, and the reason. */
const reasons: Readonly<Record<string, readonly ["HOST" | "PORT", string]>> = {
  EADDRINUSE: ["PORT", "is in use by another process: stop it, or choose another port"],
  EACCES: ["PORT", "is not allowed for this user: choose a port above 1023"],
  EADDRNOTAVAIL: ["HOST", "is not an address of this machine"],
  ENOTFOUND: ["HOST", "has no address"],
};
