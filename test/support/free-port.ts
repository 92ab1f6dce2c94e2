import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A port that was free a moment ago: for a server whose address must be known before it listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  await new Promise((closed) => server.close(closed));
  return port;
}
