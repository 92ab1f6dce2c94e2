import { setTimeout as sleep } from "node:timers/promises";
import type { Stage } from "../figure.ts";
import { type Watched, watch, watchedPlatform } from "../figures/watch.ts";
import { openGrpcWatchers } from "../grpc-watchers.ts";
import { residentKbOf } from "../process-usage.ts";
import { type Server, startFloor } from "../servers.ts";
import { rounded } from "../statistics.ts";
import type { Finding } from "./finding.ts";

const settleMs = 5_000;
const grpcWatchers = 1_000;

/** Kilobytes for each of so many, by how a process has grown when it has come to rest. */
async function kbEach({ pid }: Server, count: number, open: (count: number) => Promise<Disposable>): Promise<number> {
  // What the first ones load is not theirs.
  (await open(10))[Symbol.dispose]();
  await sleep(settleMs);
  const before = residentKbOf(pid);
  using _all = await open(count);
  await sleep(settleMs);
  return (residentKbOf(pid) - before) / count;
}

/** Many open streams of server-sent events. */
export async function sseWatchers(stage: Stage, count: number): Promise<Finding> {
  const watched = await watchedPlatform(stage);
  const kb = await kbEach(watched.server, count, (some) => watch(watched, some));
  return { figure: "endurance.sse.memory", ours: rounded(kb), unit: "kB a watcher", watchers: count, goal: 60 };
}

/** gRPC streams beside those of a static Connect handler. */
export async function grpcStreams(stage: Stage): Promise<Finding> {
  const watched = await watchedPlatform(stage);
  const floor = stage.stack.use(await startFloor("connect", { HTTP2: "1" }));
  const streams = ({ server, taskIds, key }: Pick<Watched, "server" | "taskIds" | "key">) =>
    kbEach(server, grpcWatchers, (some) =>
      openGrpcWatchers(
        server.port,
        Array.from({ length: some }, (_, i) => taskIds[i % taskIds.length] ?? ""),
        key,
      ),
    );
  const ours = await streams(watched);
  const bare = await streams({ server: floor, taskIds: ["task"], key: "" });
  return {
    figure: "endurance.grpc.memory",
    ours: rounded(ours),
    floor: rounded(bare),
    ratio: rounded(ours / bare),
    unit: "kB a watcher",
    watchers: grpcWatchers,
    goal: 1.25,
  };
}
