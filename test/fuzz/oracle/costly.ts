// A server that spends the resources in its path on any request: `/cpu/600` milliseconds of CPU time,
// `/memory/200` MiB.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const MiB = 1024 ** 2;
/** The result of a computation, so that no loop is empty. */
let _work = 0;

function spend(kind: string, amount: number): void {
  if (kind === "memory") Buffer.alloc(amount * MiB, 1);
  if (kind === "cpu") burn(amount);
}

/** The meter includes system time, and each read of the process clock costs some. */
function burn(ms: number): void {
  const begun = process.cpuUsage();
  for (let spent = 0; spent < ms * 1000; ) {
    for (let step = 0; step < 100_000; step += 1) _work += Math.sqrt(step);
    const { user, system } = process.cpuUsage(begun);
    spent = user + system;
  }
}

const server = createServer((request, response) => {
  const [, kind = "", amount = ""] = (request.url ?? "").split("/");
  spend(kind, Number(amount));
  response.end();
});
// It listens on TCP.
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
