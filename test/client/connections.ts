import { connect, createServer, type Socket } from "node:net";

/** A way to a server that counts connections and calls, and can cut them. */
export interface Connections extends Disposable {
  readonly url: string;
  /** The most at the same time. */
  readonly most: number;
  /** The requests of an operation so far, each from its name to the next request. */
  calls(operation: string): readonly string[];
  cut(): void;
}

/** @param url the address of the server. */
export async function countConnections(url: string): Promise<Connections> {
  const open = new Set<Socket>();
  const { hostname, port } = new URL(url);
  let [most, text] = [0, ""];
  const server = createServer((from) => {
    most = Math.max(most, open.add(from).size);
    const to = connect(Number(port), hostname);
    from.on("data", (data) => {
      text += data.toString("latin1");
    });
    from.pipe(to).pipe(from);
    for (const end of [from, to]) end.on("error", () => end.destroy());
    to.on("close", () => from.destroy());
    from.on("close", () => {
      open.delete(from);
      to.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const cut = () => open.forEach((each) => void each.destroy());
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    get most() {
      return most;
    },
    calls: (operation) => text.split("POST /").filter((each) => each.startsWith(`${operation} `)),
    cut,
    [Symbol.dispose]: () => {
      cut();
      server.close();
    },
  };
}
