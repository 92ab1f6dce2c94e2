import { createServer, type IncomingMessage, type RequestListener } from "node:http";

type Route<T> = (body: T) => unknown;

/** Answers JSON posts with node:http only, and prints a line when ready; other methods go to `rest`. */
export function serve<T>(routes: Readonly<Record<string, Route<T>>>, rest?: RequestListener): void {
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return rest?.(request, response);
    // The load generator sends valid bodies only.
    const body = JSON.parse(await readText(request)) as T;
    const answer = await routes[request.url ?? ""]?.(body);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer, plain));
  });
  server.listen({ port: Number(process.env["PORT"]), host: "127.0.0.1", backlog: 4096 }, () =>
    process.stdout.write("floor ready\n"),
  );
}

const plain = (_name: string, value: unknown): unknown => (typeof value === "bigint" ? Number(value) : value);

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}
