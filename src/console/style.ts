import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";

const text = readFileSync(new URL("./style.css", import.meta.url), "utf8");

/** The style sheet's path: another text is at another path, so that browsers may keep each for ever. */
export const stylePath = `/assets/style-${createHash("sha256").update(text).digest("hex").slice(0, 16)}.css`;

/** Serves the one style sheet of all pages. */
export function styleRoute(app: FastifyInstance): void {
  app.get(stylePath, async (_request, reply) =>
    reply
      .header("Cache-Control", "public, max-age=31536000, immutable")
      .header("X-Content-Type-Options", "nosniff")
      .type("text/css; charset=utf-8")
      .send(text),
  );
}
