import type { FastifyInstance } from "fastify";
import type { Clock } from "../core/clock.ts";

/** Where the operators receive reports. */
export interface SecurityContactParts {
  readonly clock: Pick<Clock, "now">;
  readonly baseUrl: string;
  /** A URI; null: the page of this server about reporting. */
  readonly securityContact: string | null;
}

const yearMs = 365 * 24 * 3_600_000;

/**
 * `/.well-known/security.txt` (RFC 9116): whom to tell about a vulnerability. Each answer is valid for a
 * year.
 */
export function securityContactRoute(
  app: FastifyInstance,
  { clock, baseUrl, securityContact }: SecurityContactParts,
): void {
  const page = `${baseUrl}/docs/operate/security#report-a-vulnerability`;
  app.get("/.well-known/security.txt", async (_request, reply) =>
    reply
      .type("text/plain; charset=utf-8")
      .header("Cache-Control", "no-cache")
      .send(
        [
          `Contact: ${securityContact ?? page}`,
          `Expires: ${new Date(clock.now() + yearMs).toISOString()}`,
          "Preferred-Languages: en",
          `Canonical: ${baseUrl}/.well-known/security.txt`,
          `Policy: ${page}`,
          "",
        ].join("\n"),
      ),
  );
}
