import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { Target } from "../attack.ts";
import { answerText } from "./answer.ts";
import { open } from "./http1.ts";

const answerMs = 25_000;

/** An HTTP/2 connection to the server from the attacker's address. */
export function session(target: Target): ClientHttp2Session {
  const opened = connect(`http://localhost:${target.port}`, { createConnection: () => open(target) });
  opened.on("error", () => undefined);
  return opened;
}

/** A complete request on a new connection; `reset N` when the server ends it without an answer. */
export async function exchange2(
  target: Target,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
) {
  const opened = session(target);
  const stream = opened.request({ ":method": method, ":path": path, ...target.headers, ...headers });
  stream.end(body);
  return answerTo(stream).finally(() => opened.destroy());
}

/** The answer on a stream as text; `open` without one. */
export function answerTo(stream: ClientHttp2Stream, waitMs = answerMs): Promise<string> {
  let status = 0;
  let said = "";
  const addFields = (fields: object): void => {
    for (const [name, value] of Object.entries(fields)) said += `${name}: ${value}\r\n`;
  };
  return new Promise((resolve) => {
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), waitMs);
    stream.on("response", ({ ":status": code, ...fields }) => {
      status = Number(code);
      addFields(fields);
    });
    stream.on("trailers", addFields);
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString("latin1");
    });
    stream.on("error", () => undefined);
    const finish = (): void => {
      clearTimeout(timer);
      if (status > 0) resolve(answerText(status, said));
      else resolve(stream.rstCode === constants.NGHTTP2_CANCEL ? "open" : `reset ${stream.rstCode}`);
    };
    stream.on("end", finish).on("close", finish);
  });
}
