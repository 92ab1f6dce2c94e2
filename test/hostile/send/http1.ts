import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import type { Target } from "../attack.ts";
import { answerText } from "./answer.ts";

/** Longer than the timeout of an unfinished request without a credential. */
const answerMs = 25_000;

/** A connection to the server from the attacker's address. */
export function open({ port, address }: Pick<Target, "port" | "address">): Socket {
  const socket = connect({ port, host: "127.0.0.1", localAddress: address });
  // The server may cut it off at any point.
  socket.on("error", () => undefined);
  return socket;
}

/** Sends pieces as fast as the server reads them, until it closes the connection. */
export async function pour(socket: Socket, pieces: Iterable<Uint8Array | string>): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    if (!socket.write(piece))
      await Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => undefined);
  }
}

/**
 * The server's output until it closes the connection, or until the answer is complete: its status and code;
 * `closed` without an answer, `open` when nothing arrives.
 */
export function readAnswer(socket: Socket, waitMs = answerMs): Promise<string> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const finish = (otherwise: string): void => {
      clearTimeout(timer);
      resolve(wordsOf(Buffer.concat(chunks).toString("latin1")) ?? otherwise);
      socket.destroy();
    };
    const timer = setTimeout(() => finish("open"), waitMs);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      if (isWhole(Buffer.concat(chunks).toString("latin1"))) finish("closed");
    });
    socket.once("close", () => finish("closed"));
  });
}

const final = /^(?:HTTP\/1\.1 100 [\s\S]*?\r\n\r\n)?HTTP\/1\.1 (\d{3}) [\s\S]*?\r\n\r\n/;

function wordsOf(text: string): string | undefined {
  const [head = "", status] = final.exec(text) ?? [];
  if (status === undefined) return undefined;
  const body = text.slice(head.length);
  // Connect answers in the coding of the request, also a long refusal.
  const isCompressed = /\r\ncontent-encoding: gzip\r\n/i.test(head);
  return answerText(status, isCompressed ? gunzipSync(Buffer.from(body, "latin1")).toString() : body);
}

function isWhole(text: string): boolean {
  const [head] = final.exec(text) ?? [];
  if (head === undefined) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  return length === undefined ? text.endsWith("\r\n0\r\n\r\n") : text.length >= head.length + Number(length);
}

/** A request's head. `headers` can replace or remove the length. */
export function headOf(
  method: string,
  path: string,
  headers: Readonly<Record<string, string | number>>,
): string {
  const lines = Object.entries({ Host: "localhost", ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** A complete request on a new connection. */
export async function exchange(
  target: Target,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  waitMs = answerMs,
) {
  const socket = open(target);
  const answer = readAnswer(socket, waitMs);
  const head = headOf(method, path, { ...target.headers, ...headers, "Content-Length": body.length });
  await pour(socket, [head, body]);
  return answer;
}
