import { parseArgs } from "node:util";
import { isLoopback } from "../../src/config/sign-in.ts";

/** What `npm run dev` is started with. */
export interface DevSettings {
  readonly host: string;
  /** The port of the printed address. */
  readonly port: number;
  /** A file of calls that are made once the server is ready (docs/guides/testing.md). */
  readonly fixtures: string | undefined;
}

const portMax = 65_535;

/**
 * Reads the arguments and the environment.
 *
 * @throws Error for a HOST that other machines reach and for NODE_ENV=production: the console comes with a
 * relaxed security policy, and Vite serves the sources.
 */
export function readDevSettings(args: readonly string[], env: NodeJS.ProcessEnv): DevSettings {
  const { values } = parseArgs({ args: [...args], options: { fixtures: { type: "string" } } });
  const { HOST: host = "127.0.0.1", PORT = "8080", NODE_ENV } = env;
  if (NODE_ENV === "production")
    throw new Error("NODE_ENV: must not be production; `npm start` is the server for production");
  if (!isLoopback(host))
    throw new Error(
      `HOST: must be 127.0.0.1, ::1 or localhost, because this server is for development only; got ${host}`,
    );
  const port = Number(PORT);
  if (!Number.isInteger(port) || port < 1 || port > portMax)
    throw new Error(`PORT: must be 1 to ${portMax}; got ${PORT}`);
  return { host, port, fixtures: values.fixtures };
}
