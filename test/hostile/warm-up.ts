import type { Platform } from "./platform.ts";
import { exchange } from "./send/http1.ts";
import { exchange2 } from "./send/http2.ts";

/** How many members call. */
export const callers = 6;
const callsOfEach = 30;

/**
 * Makes ordinary calls on three wires, so that one-time costs of a process do not count as costs of attacks.
 */
export async function warmUp(platform: Platform): Promise<void> {
  const grpc = { "content-type": "application/grpc+proto", te: "trailers" };
  const json = { "content-type": "application/json" };
  for (let caller = 0; caller < callers; caller++) {
    const target = platform.attacker("member");
    for (let call = 0; call < callsOfEach; call++) {
      await Promise.all([
        exchange(target, "POST", "/v2/task.list", json, Buffer.from("{}")),
        exchange(target, "POST", "/task.v2.TaskService/ListTasks", json, Buffer.from("{}")),
        exchange2(target, "POST", "/user.v2.UserService/GetCurrentUser", grpc, Buffer.alloc(5)),
      ]);
    }
  }
}
