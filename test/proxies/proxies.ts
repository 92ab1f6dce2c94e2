import { readFileSync } from "node:fs";
import { type Daemon, startDaemon, withReplaced } from "../support/daemon.ts";
import { freePort } from "../support/free-port.ts";

/** A proxy of deploy/proxy in front of two processes: its addresses for calls and for gRPC. */
export interface Proxy extends AsyncDisposable {
  readonly url: string;
  readonly grpcUrl: string;
  /** What the proxy has written about failed connections. */
  output(): string;
}

interface Ports {
  readonly calls: number;
  readonly grpc: number;
  readonly processes: readonly [number, number];
}

const read = (name: string): string => readFileSync(`deploy/proxy/${name}`, "utf8");
const processesOf = ({ processes: [first, second] }: Ports) => ({
  "10.0.0.11:8080": `127.0.0.1:${first}`,
  "10.0.0.12:8080": `127.0.0.1:${second}`,
});

/** Shorter times than those of the files fit a shorter NOTICE_SECONDS. */
function startNginx(ports: Ports): Promise<Daemon> {
  const secure = "listen 443 ssl http2;\n    server_name";
  const certificate = [
    "    ssl_certificate     /etc/ssl/api.example.com.pem;",
    "    ssl_certificate_key /etc/ssl/api.example.com.key;",
  ];
  const text = withReplaced(read("nginx.conf"), {
    ...processesOf(ports),
    "keepalive_timeout 5s": "keepalive_timeout 500ms",
    "limit_conn client 256": "limit_conn client 10000",
    [`${secure} api.example.com`]: `listen 127.0.0.1:${ports.calls};\n    server_name _`,
    [`${secure} grpc.example.com`]: `listen 127.0.0.1:${ports.grpc} http2;\n    server_name _`,
    ...Object.fromEntries(certificate.map((line) => [line, ""])),
  });
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path FOLDER/${name};`,
  );
  const main = `daemon off; pid FOLDER/pid; error_log stderr; events {}\nhttp { access_log off; ${temporary.join(" ")}\n${text}}\n`;
  const command = ["nginx", "-p", "FOLDER", "-e", "stderr", "-c", "FOLDER/nginx.conf"] as const;
  return startDaemon({ files: { "nginx.conf": main }, command, port: ports.calls });
}

function startHaproxy(ports: Ports): Promise<Daemon> {
  const text = withReplaced(read("haproxy.cfg"), {
    ...processesOf(ports),
    "inter 1s": "inter 250ms",
    "bind :443 ssl crt /etc/ssl/api.example.com.pem alpn h2,http/1.1": `bind 127.0.0.1:${ports.calls}\n    bind 127.0.0.1:${ports.grpc} proto h2`,
    "gt 256": "gt 10000",
  });
  return startDaemon({
    files: { "haproxy.cfg": text },
    command: ["haproxy", "-f", "FOLDER/haproxy.cfg"],
    port: ports.calls,
  });
}

function startCaddy(ports: Ports): Promise<Daemon> {
  const options = "{\n\tadmin off\n\tservers {\n\t\tprotocols h1 h2c\n\t}\n}\n";
  const text = withReplaced(read("Caddyfile"), {
    ...processesOf(ports),
    "health_interval 1s": "health_interval 250ms",
    "keepalive 5s": "keepalive 500ms",
    "api.example.com": `http://127.0.0.1:${ports.calls}, http://127.0.0.1:${ports.grpc}`,
  });
  const command = ["caddy", "run", "--config", "FOLDER/Caddyfile", "--adapter", "caddyfile"] as const;
  return startDaemon({ files: { Caddyfile: options + text }, command, port: ports.calls });
}

const starts = { nginx: startNginx, haproxy: startHaproxy, caddy: startCaddy };

export type ProxyName = keyof typeof starts;
export const proxyNames: readonly ProxyName[] = ["nginx", "haproxy", "caddy"];

/** Starts a proxy by its file in deploy/proxy, without TLS. @param processes the ports of the processes */
export async function startProxy(name: ProxyName, processes: readonly [number, number]): Promise<Proxy> {
  const ports = { calls: await freePort(), grpc: await freePort(), processes };
  const daemon = await starts[name](ports);
  return {
    url: `http://127.0.0.1:${ports.calls}`,
    grpcUrl: `http://127.0.0.1:${ports.grpc}`,
    output: () => daemon.output(),
    [Symbol.asyncDispose]: () => daemon[Symbol.asyncDispose](),
  };
}
