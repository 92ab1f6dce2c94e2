import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { openStore } from "../../src/store/open.ts";

/** A message of PostgreSQL's protocol: its letter, length and body. */
function message(letter: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(letter), length, body]);
}

const welcome = message("R", Buffer.alloc(4));
const ready = message("Z", Buffer.from("I"));
const cut = message(
  "E",
  Buffer.from("SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"),
);

/**
 * A server that accepts every login, and cuts all connections but the first `spared` with the same packet.
 */
async function cuttingServer(spared: number): Promise<Server> {
  let connections = 0;
  const greet = (socket: Socket) => {
    socket.on("error", () => undefined);
    connections += 1;
    const isSpared = connections <= spared;
    socket.once("data", () =>
      isSpared
        ? socket.write(Buffer.concat([welcome, ready]))
        : socket.end(Buffer.concat([welcome, ready, cut])),
    );
  };
  const server = createServer(greet).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

// The first connection only tests the database; the second belongs to a pool.
test.each([
  0, 1,
])("a connection that is cut off as soon as it is made, after %i others, makes the database unavailable and ends no process", async (spared) => {
  const server = await cuttingServer(spared);
  const { port } = server.address() as { readonly port: number }; // It listens on TCP.
  const opened = openStore({
    databaseUrl: `postgresql://any@127.0.0.1:${port}/any`,
    clock: systemClock,
    random: systemRandom,
  });
  // An unhandled error would also fail this run.
  await expect(opened).rejects.toMatchObject({ name: "Failure", reason: "unavailable" });
  server.close();
});
