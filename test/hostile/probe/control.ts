// A server that only answers. If it is slow, the machine is the cause.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer((_request, response) => response.end("ok\n"));
// It listens on TCP.
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
