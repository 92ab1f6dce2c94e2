import { addMembers, addPeople } from "../fuzz/platform/people.ts";
import { startServer } from "../support/server-process.ts";
import type { Sender, Target } from "./attack.ts";

/** A platform under attack: a server in a separate process, with all limits at their defaults. */
export interface Platform extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  isAlive(): boolean;
  /**
   * A new attacker with a new address, and for a member or a guest a new account. @throws Error when there
   * are no more
   */
  attacker(by: Sender): Target;
}

/**
 * As in `npm start`; the heap is bounded so that a server without bounds on its requests ends, and not the
 * machine.
 */
const memory = {
  NODE_OPTIONS: "--max-semi-space-size=8 --max-old-space-size=1500",
  MALLOC_MMAP_THRESHOLD_: "1048576",
};

/** @param accounts how many members and how many guests there are */
export async function startPlatform(accounts: number): Promise<Platform> {
  const server = await startServer({ RATE_LIMITS: "default", ...memory });
  const { url, dataDir, child } = server;
  const { keys } = await addPeople(dataDir);
  const crowd = {
    member: [...(await addMembers(dataDir, Array<"member">(accounts).fill("member")))],
    guest: [...(await addMembers(dataDir, Array<"guest">(accounts).fill("guest")))],
  };
  const port = Number(new URL(url).port);
  let attackers = 0;

  function headersOf(by: Sender): Target["headers"] {
    if (by === "anonymous") return {};
    // SCIM accepts its key only there.
    return by === "team_user_mgmt"
      ? { authorization: `Bearer ${keyOf(by)}` }
      : { "x-service-api-key": keyOf(by) };
  }

  function keyOf(by: Exclude<Sender, "anonymous">): string {
    const key = by === "member" || by === "guest" ? crowd[by].pop() : keys.get(by);
    if (key === undefined) throw new Error(`there is no ${by} left`);
    return key;
  }

  return {
    port,
    pid: child.pid ?? 0,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    attacker(by) {
      attackers += 1;
      const address = `127.1.${Math.floor(attackers / 200)}.${(attackers % 200) + 1}`;
      return { port, address, headers: headersOf(by) };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
