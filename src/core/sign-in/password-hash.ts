import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { Failure } from "../failure.ts";

/** What a hash costs: 32 MB and, on a common processor, a quarter of a second (OWASP's advice for scrypt). */
const cost = { ln: 15, r: 8, p: 3 } as const;
const hashBytes = 32;
const saltBytes = 16;

/** Hashes at a time: each takes 32 MB and a thread of the four that files and names are looked up by too. */
const atOnce = 2;
/** Hashes that may wait; beyond that somebody floods us. */
const waitingMax = 200;

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

/** As it is stored: `$scrypt$ln=15,r=8,p=3$SALT$HASH` (the PHC string format). */
const form = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/;

interface Stored {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** No password has this hash: it is compared where there is none, so that this takes as long. */
const nobody: Stored = { ...cost, salt: Buffer.alloc(saltBytes), hash: Buffer.alloc(hashBytes) };

/** What is kept of a password, with the parameters it was made by. */
export async function hashPassword(text: string): Promise<string> {
  const salt = randomBytes(saltBytes);
  const hash = await derived(text, { ...cost, salt });
  return `$scrypt$ln=${cost.ln},r=${cost.r},p=${cost.p}$${base64(salt)}$${base64(hash)}`;
}

/** True when the text is the password; the same work is done where `stored` is null, and the answer is no. */
export async function isPassword(text: string, stored: string | null): Promise<boolean> {
  const known = stored === null ? null : readHash(stored);
  const wanted = known ?? nobody;
  return timingSafeEqual(await derived(text, wanted), wanted.hash) && known !== null;
}

/** True when the parameters have grown since: the next good sign-in writes it anew. */
export function isOutdated(stored: string): boolean {
  const { ln, r, p } = readHash(stored) ?? nobody;
  return ln < cost.ln || r < cost.r || p < cost.p;
}

function readHash(stored: string): Stored | null {
  const [, ln, r, p, salt = "", hash = ""] = form.exec(stored) ?? [];
  if (ln === undefined) return null;
  return { ln: Number(ln), r: Number(r), p: Number(p), salt: Buffer.from(salt, "base64"), hash: Buffer.from(hash, "base64") };
}

const base64 = (bytes: Buffer): string => bytes.toString("base64").replace(/=+$/, "");

/** One gate for the process, since what it guards, memory and threads, is the process's. */
const gate = { running: 0, waiting: [] as (() => void)[] };

async function derived(text: string, { ln, r, p, salt }: Omit<Stored, "hash">): Promise<Buffer> {
  if (gate.waiting.length >= waitingMax) throw new Failure("unavailable", "too many people sign in at this moment", { retryAfter: 10 });
  if (gate.running >= atOnce) await new Promise<void>((resolve) => gate.waiting.push(resolve));
  else gate.running += 1;
  try {
    const N = 2 ** ln;
    return await derive(text.normalize("NFKC"), salt, hashBytes, { N, r, p, maxmem: 128 * N * r * 2 });
  } finally {
    const next = gate.waiting.shift();
    // Who waited longest takes the place that is given up.
    if (next) next();
    else gate.running -= 1;
  }
}
