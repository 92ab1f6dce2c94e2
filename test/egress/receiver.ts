import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";

/** A web server on this machine that records its requests. */
export interface Receiver extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Requests, as method and path. */
  readonly requests: readonly string[];
  /** The headers of the last request. */
  headers(): IncomingMessage["headers"];
  /** Connections so far, with or without a request. */
  connections(): number;
  /** The open connections. */
  open(): number;
  /** Resolves at the first request. */
  readonly firstRequest: Promise<void>;
  /** Resolves when no connection is open. */
  allClosed(): Promise<void>;
}

/** @param tls a key and its certificate, for https. */
export async function openReceiver(answer: RequestListener, tls?: Certificate): Promise<Receiver> {
  const requests: string[] = [];
  let last: IncomingMessage["headers"] = {};
  let connections = 0;
  const sockets = new Set<Socket>();
  const asked = Promise.withResolvers<void>();
  const listener: RequestListener = (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    last = request.headers;
    asked.resolve();
    answer(request, response);
  };
  const server = tls ? createTlsServer({ key: tls.key, cert: tls.cert }, listener) : createServer(listener);
  server.on("connection", (socket: Socket) => {
    connections++;
    sockets.add(socket.once("close", () => sockets.delete(socket)));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return {
    port,
    url: `${tls ? "https" : "http"}://127.0.0.1:${port}`,
    requests,
    headers: () => last,
    connections: () => connections,
    open: () => sockets.size,
    firstRequest: asked.promise,
    async allClosed() {
      for (const socket of sockets) await new Promise((resolve) => socket.once("close", resolve));
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A self-signed certificate for `files.test` and 127.0.0.1. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
  /** The file of the certificate. */
  readonly certFile: string;
}

export function selfSigned(folder: string): Certificate {
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const names = ["-subj", "/CN=files.test", "-addext", "subjectAltName=DNS:files.test,IP:127.0.0.1"];
  const asked = [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "2",
    ...names,
  ];
  execFileSync("openssl", [...asked, "-keyout", keyFile, "-out", certFile], { stdio: "ignore" });
  return { key: readFileSync(keyFile, "utf8"), cert: readFileSync(certFile, "utf8"), certFile };
}
