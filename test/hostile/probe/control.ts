// A server that does nothing but answer. Whatever makes it slow is the machine's doing.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const server = createServer((_request, response) => response.end("ok\n"));
// It listens on TCP.
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
