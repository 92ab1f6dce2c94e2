import type { FastifyInstance } from "fastify";
import type { Readiness } from "./health.ts";

/** `/livez`: the process answers. `/readyz`: it takes calls; 503 while it starts or drains (contract/decisions.md 24). */
export function probes(app: FastifyInstance, { ready }: Readiness): void {
  app.get("/livez", async (_request, reply) => reply.type("text/plain").send("ok\n"));
  app.get("/readyz", async (_request, reply) => {
    const isReady = await ready();
    return reply
      .code(isReady ? 200 : 503)
      .type("text/plain")
      .send(isReady ? "ready\n" : "not ready\n");
  });
}
