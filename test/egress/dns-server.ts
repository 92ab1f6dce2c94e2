import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/**
 * A record of an answer; `data` of an `A` record is an IPv4 address, of `TXT` its text, of the others the
 * bytes as sent.
 */
export interface DnsRecord {
  readonly type: "A" | "AAAA" | "CNAME" | "TXT";
  readonly name?: string;
  readonly data: string;
}

/** An answer of a name server: records, a DNS error code, or null for no answer. */
export type DnsAnswer = readonly DnsRecord[] | { readonly code: number } | null;

/** A name server on loopback. */
export interface DnsServer extends AsyncDisposable {
  /** The address in the form of `dns.setServers`. */
  readonly address: string;
  /** `A good.test`, in the order of arrival. */
  readonly questions: string[];
  /** Resolves after this many questions. */
  waitForQuestions(count: number): Promise<void>;
}

const types = { A: 1, CNAME: 5, TXT: 16, AAAA: 28 } as const;
const typeNames: ReadonlyMap<number, Question> = new Map([
  [types.AAAA, "AAAA"],
  [types.TXT, "TXT"],
]);

/** The type of a question. */
export type Question = "A" | "AAAA" | "TXT";

/** Starts a name server that answers each question with what `answer` returns. */
export async function openDnsServer(answer: (name: string, type: Question) => DnsAnswer): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const questions: string[] = [];
  const listeners = new Set<() => void>();
  socket.on("message", (message, { port, address }) => {
    const { name, end } = nameAt(message, 12);
    const type = typeNames.get(message.readUInt16BE(end)) ?? "A";
    questions.push(`${type} ${name}`);
    for (const listener of listeners) listener();
    const answered = answer(name, type);
    if (answered !== null) socket.send(reply(message, end + 4, answered, name), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    questions,
    waitForQuestions: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (questions.length < count) return;
          listeners.delete(check);
          resolve();
        };
        listeners.add(check);
        check();
      }),
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, "close");
    },
  };
}

function nameAt(message: Buffer, start: number): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), end: at + 1 };
}

function reply(question: Buffer, end: number, answered: Exclude<DnsAnswer, null>, asked: string): Buffer {
  const records = "code" in answered ? [] : answered;
  const head = Buffer.alloc(12);
  head.writeUInt16BE(question.readUInt16BE(0), 0);
  head.writeUInt16BE(0x8180 | ("code" in answered ? answered.code : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([
    head,
    question.subarray(12, end),
    ...records.map(({ name = asked, ...record }) => encoded(name, record)),
  ]);
}

function encoded(name: string, { type, data }: Omit<DnsRecord, "name">): Buffer {
  const value = {
    A: () => Buffer.from(data.split(".").map(Number)),
    AAAA: () => Buffer.from(data, "hex"),
    CNAME: () => labels(data),
    TXT: () => texts(data),
  }[type]();
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(types[type], 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt32BE(60, 4);
  fixed.writeUInt16BE(value.length, 8);
  return Buffer.concat([labels(name), fixed, value]);
}

const labels = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);

/** A text in strings of 40 bytes each, as name servers may split it (RFC 1035 3.3.14). */
const texts = (text: string): Buffer =>
  Buffer.concat(
    (text.match(/.{1,40}/g) ?? []).map((part) =>
      Buffer.concat([Buffer.from([part.length]), Buffer.from(part)]),
    ),
  );
