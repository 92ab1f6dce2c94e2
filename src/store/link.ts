import { Client } from "pg";

/** One connection to PostgreSQL that listens to other processes and tells them. */
export interface Link {
  /** False when these could not be sent; then the link is gone, or is about to be. */
  send(texts: readonly string[]): Promise<boolean>;
  /** Resolves when the connection has ended, with what ended it. Never rejects. */
  readonly gone: Promise<unknown>;
  end(): Promise<void>;
}

const channel = "platform";
/** Connecting, or one notification, takes no longer. */
const patienceMs = 5_000;
/** When nothing was said for so long, the system asks whether the other end is still there. */
const keepAliveMs = 10_000;

/** @param heard told what other connections say, not what this one says. */
export async function openLink(databaseUrl: string, heard: (text: string) => void): Promise<Link> {
  const client = new Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  });
  const gone = Promise.withResolvers<unknown>();
  let reason: unknown;
  client.on("error", (thrown) => {
    reason = thrown;
  });
  client.once("end", () => gone.resolve(reason));
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly pid: number }>("SELECT pg_backend_pid() AS pid");
    client.on("notification", ({ processId, payload = "" }) => {
      if (processId !== rows[0]?.pid) heard(payload);
    });
    await client.query(`LISTEN ${channel}`);
  } catch (thrown) {
    await client.end();
    throw thrown;
  }
  return {
    gone: gone.promise,
    async send(texts) {
      try {
        await client.query({ name: "tell", text: "SELECT pg_notify($1, text) FROM unnest($2::text[]) AS text", values: [channel, texts] });
        return true;
      } catch (thrown) {
        reason = thrown;
        void client.end();
        return false;
      }
    },
    end: () => client.end(),
  };
}
