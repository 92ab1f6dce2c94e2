import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Attack, Target } from "../attack.ts";
import { headOf, open, pour, readAnswer } from "../send/http1.ts";

const MiB = 1024 ** 2;
const json = { "Content-Type": "application/json" };

/** The number of connections with each answer, for instance `32 open, 568 503 unavailable`. */
function counted(answers: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1);
  return [...counts]
    .map(([answer, count]) => `${count} ${answer}`)
    .toSorted()
    .join(", ");
}

/**
 * Opens this many connections with the same beginning and then sends nothing; counts their answers, of which
 * each is awaited for at most `heldMs`.
 */
const held = (
  name: string,
  by: Attack["by"],
  {
    connections,
    heldMs,
    begin,
  }: {
    readonly connections: number;
    readonly heldMs: number;
    readonly begin: (socket: Socket, target: Target) => Promise<void>;
  },
  ...expected: readonly string[]
): Attack => ({
  ...{ name: `${connections} connections: ${name}`, by, expected },
  async send(target) {
    const sockets = Array.from({ length: connections }, () => open(target));
    const answers = sockets.map((socket) => readAnswer(socket, heldMs));
    await Promise.all(sockets.map((socket) => begin(socket, target)));
    return counted(await Promise.all(answers));
  },
});

const unfinished =
  (path: string, announced: number, sent: number) =>
  (socket: Socket, { headers }: Target): Promise<void> =>
    pour(socket, [
      headOf("POST", path, { ...json, ...headers, "Content-Length": announced }),
      ...pieces(sent),
    ]);

function* pieces(size: number): Generator<Uint8Array> {
  const piece = Buffer.alloc(Math.min(size, MiB), " ");
  for (let left = size; left > 0; left -= piece.length) yield piece.subarray(0, Math.min(left, piece.length));
}

/** Requests more and more answers without reading them; reads at the end. */
const unread: Attack = {
  name: "20,000 requests on one connection, whose answers are not read for a second",
  by: "anonymous",
  expected: ["200", "closed"],
  async send(target) {
    const socket = open(target);
    socket.pause();
    const request = headOf("GET", "/.well-known/oauth-authorization-server", {});
    const poured = pour(socket, Array<Buffer>(20).fill(Buffer.alloc(request.length * 1_000, request)));
    await Promise.race([poured, pause(1_000)]);
    const answer = readAnswer(socket);
    socket.resume();
    return answer;
  },
};

/** Bodies, heads and answers that never end. */
export const holding: readonly Attack[] = [
  held(
    "31 of 32 MiB to usage.list, then silence",
    "member",
    { connections: 90, heldMs: 60_000, begin: unfinished("/v2/usage.list", 32 * MiB, 31 * MiB) },
    "90 413 invalid_argument",
  ),
  held(
    "200 of 250 KiB to usage.list, then silence",
    "member",
    { connections: 90, heldMs: 2_000, begin: unfinished("/v2/usage.list", 250 * 1024, 200 * 1024) },
    "90 open",
  ),
  held(
    "half of a form to /oauth/token, then silence",
    "anonymous",
    { connections: 600, heldMs: 45_000, begin: unfinished("/oauth/token", 60_000, 30_000) },
    "32 408 invalid_request, 568 429 temporarily_unavailable",
  ),
  held(
    "a head that never ends",
    "anonymous",
    {
      connections: 300,
      heldMs: 45_000,
      begin: (socket) => pour(socket, ["POST /oauth/token HTTP/1.1\r\nHost: a\r\nA:"]),
    },
    "300 408",
    "300 closed",
  ),
  held(
    "no byte",
    "anonymous",
    { connections: 300, heldMs: 45_000, begin: async () => undefined },
    "300 closed",
  ),
  unread,
];
