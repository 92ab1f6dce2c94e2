// Lends a Chromium on this machine to your agents, for as long as this runs:
//
//   chromium --remote-debugging-port=9222 --user-data-dir=/tmp/agent-browser &
//   ATP_KEY=sk-… node examples/browser/attach.mjs http://localhost:8080
//
// CLIENT_ID (a UUID) is the browser's lasting id, NAME what you know it by, CDP where the browser listens.
import { randomUUID } from "node:crypto";
import { connect } from "node:http2";

const base = new URL(process.argv[2] ?? process.env.ATP_URL ?? "http://localhost:8080");
const key = process.env.ATP_KEY ?? "";
const cdp = new URL(process.env.CDP ?? "http://127.0.0.1:9222");
const clientId = process.env.CLIENT_ID ?? randomUUID();
const clientName = process.env.NAME ?? "Chromium";
/** Refusals that no further attempt changes. */
const final = [
  "invalid_argument",
  "unauthenticated",
  "permission_denied",
  "already_exists",
  "failed_precondition",
  "unimplemented",
];

/** Characters of an answer: the platform reads no message beyond its BODY_LIMIT. */
const answerMax = 16 * 1024 * 1024;

/** Only a browser of this machine, because every CDP client controls it completely. */
if (!["127.0.0.1", "localhost", "[::1]"].includes(cdp.hostname)) throw new Error("CDP must be on loopback");

/** A frame of the Connect protocol: a flag, the length, and JSON. */
function frame(message) {
  const body = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** Calls `each` with the flag and the message of every whole frame. */
function frames(each) {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
      const end = 5 + rest.readUInt32BE(1);
      each(rest[0], JSON.parse(rest.subarray(5, end).toString() || "{}"));
      rest = rest.subarray(end);
    }
  };
}

/** The browser, over its own WebSocket: `ask` carries a command out. */
async function openBrowser() {
  const version = await (await fetch(new URL("/json/version", cdp))).json();
  const socket = new WebSocket(version.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("the browser does not answer"));
  });
  const pending = new Map();
  let next = 1;
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(data);
    pending.get(message.id)?.(message);
    pending.delete(message.id);
  };
  const ask = ({ sessionId, method, params }) =>
    new Promise((resolve) => {
      const id = next++;
      pending.set(id, resolve);
      socket.send(
        JSON.stringify({
          id,
          method,
          params: JSON.parse(params || "{}"),
          ...(sessionId ? { sessionId } : {}),
        }),
      );
    });
  return { ua: version["User-Agent"] ?? "", socket, ask };
}

/** Holds one stream until it ends; answers the code it ended with. */
function attach(browser) {
  return new Promise((resolve) => {
    const session = connect(base.origin);
    const end = (code) => {
      browser.socket.onclose = null;
      session.destroy();
      resolve(code);
    };
    session.on("error", () => end("unavailable"));
    const stream = session.request({
      ":method": "POST",
      ":path": `${base.pathname.replace(/\/$/, "")}/browser.v2.BrowserService/Attach`,
      "content-type": "application/connect+json",
      "connect-protocol-version": "1",
      "x-service-api-key": key,
    });
    const say = (message) => stream.write(frame(message));
    async function carryOut(command) {
      const { result = {}, error } = await browser.ask(command);
      const answer = JSON.stringify(result);
      const refusal = error
        ? String(error.message).slice(0, 2000)
        : answer.length > answerMax
          ? "the answer is too large"
          : null;
      say({
        result: refusal === null ? { id: command.id, result: answer } : { id: command.id, error: refusal },
      });
    }
    stream.on("error", () => end("unavailable"));
    stream.on("close", () => end("unavailable"));
    stream.on(
      "response",
      ({ ":status": status }) => status !== 200 && end(status < 500 ? "permission_denied" : "unavailable"),
    );
    stream.on(
      "data",
      frames((flag, message) => {
        // The last frame says how it ended.
        if (flag & 2) return end(message.error ? `${message.error.code}: ${message.error.message}` : "ok");
        if (message.attached) console.log(`${clientName} is online as ${clientId}`);
        if (message.ping) say({ pong: {} });
        if (message.command) void carryOut(message.command);
      }),
    );
    browser.socket.onclose = () => end("the browser was closed");
    say({ hello: { clientId, clientName, ua: browser.ua } });
  });
}

for (let pause = 1; ; pause = Math.min(2 * pause, 30)) {
  const browser = await openBrowser();
  const how = await attach(browser);
  browser.socket.close();
  console.error(`the stream ended: ${how}`);
  if (how === "the browser was closed" || final.includes(how.split(":")[0])) process.exit(1);
  await new Promise((resolve) => setTimeout(resolve, pause * 1000));
}
