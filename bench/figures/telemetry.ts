import { type Figure, race, type Stage } from "../figure.ts";
import type { Contender } from "../load.ts";
import { freePort, startFloor, startPlatform } from "../servers.ts";
import { anyTask, createPoster } from "./calls.ts";

const off = { CALL_LOG: "off" };
const log = { CALL_LOG: "all" };

/** What metrics, the line of each call and traces cost a call. The floor is the same server without them. */
export const telemetryFigures: readonly Figure[] = [
  race({
    name: "telemetry",
    concurrency: 16,
    async contenders({ databases, stack }: Stage) {
      let rows = 10_000;
      const collector = stack.use(await startFloor("collector"));
      const traces = {
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
        OTEL_TRACES_SAMPLER: "always_on",
      };
      const metrics = async () => ({ ADMIN_PORT: String(await freePort()) });
      /**
       * SQLite has one process, so each server has a separate database, with one account more than the last.
       */
      async function contender(name: string, env: Readonly<Record<string, string>>): Promise<Contender> {
        const database = await databases.seeded("sqlite", rows);
        rows += 1_000;
        return createPoster(name, stack.use(await startPlatform(database, env)), {
          path: "/v2/task.detail",
          body: () => ({ task_id: anyTask(database) }),
          check: ({ task }) => task !== undefined,
        });
      }
      return [
        await contender("metrics, lines and all traces", { ...log, ...traces, ...(await metrics()) }),
        await contender("none of them", off),
        await contender("metrics", { ...off, ...(await metrics()) }),
        await contender("lines", log),
        await contender("all traces", { ...off, ...traces }),
        await contender("5% of the traces", {
          ...off,
          ...traces,
          OTEL_TRACES_SAMPLER: "traceidratio",
          OTEL_TRACES_SAMPLER_ARG: "0.05",
        }),
      ];
    },
  }),
];
