// A server that spends what its path says, on any request: `/cpu/600` milliseconds on a processor, `/memory/200` MiB.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const MiB = 1024 ** 2;

function spend(kind: string, amount: number): void {
  const begun = process.cpuUsage();
  if (kind === "memory") Buffer.alloc(amount * MiB, 1);
  while (kind === "cpu" && process.cpuUsage(begun).user < amount * 1000);
}

const server = createServer((request, response) => {
  const [, kind = "", amount = ""] = (request.url ?? "").split("/");
  spend(kind, Number(amount));
  response.end();
});
// It listens on TCP.
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
