// A collector of OpenTelemetry that reads what it gets and keeps nothing.
import { createServer } from "node:http";

const server = createServer((request, response) => {
  request
    .resume()
    .once("end", () => response.writeHead(200, { "content-type": "application/x-protobuf" }).end());
});
server.listen({ port: Number(process.env["PORT"]), host: "127.0.0.1" }, () =>
  process.stdout.write("floor ready\n"),
);
