import { test, expect } from "vitest";
import { openService } from "../support/service.ts";
import { movableClock } from "../support/clock.ts";
import { transportOf, rpcWires } from "../support/wires.ts";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { create } from "@bufbuild/protobuf";
test("smoke", async () => {
  await using s = await openService({ clock: movableClock(), idle: true, env: {RATE_LIMITS: "0.05"} });
  const p = await s.person();
  console.log(await p.v2("project.create", { name: "a" }));
  for (const w of rpcWires) {
    const t = transportOf(w, s.url, { "x-service-api-key": p.key, "idempotency-key": "k" });
    for (let i = 0; i < 2; i++) {
    const r = await t.unary(ProjectService.method.createProject, undefined, undefined, {}, create(ProjectService.method.createProject.input, { name: "x" })).catch((e) => e);
    if (r instanceof Error) console.log(w, "ERR", r.message, [...(r as any).metadata]); else console.log(w, JSON.stringify(r.message, (k, v) => typeof v === "bigint" ? Number(v) : v), [...r.header], [...r.trailer]);
    }
  }
});
