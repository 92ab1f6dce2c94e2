import { hangMs } from "../../support/patience.ts";
import type { Platform } from "../platform.ts";
import { exchange } from "../send/http1.ts";

/** How many members send. */
export const accounts = 8;
const bodiesOfEach = 3;
const fileBytes = 20 * 1024 ** 2;

/** The answers to a body within its limits while BODY_MEMORY may be full. */
export const acceptedMax: readonly string[] = ["200", "503 unavailable"];

/** Sends tasks with a file of 20 MiB each, more at once than BODY_MEMORY accepts. @returns the answers */
export function sendAccepted(platform: Platform): Promise<readonly string[]> {
  const data = `data:application/octet-stream;base64,${Buffer.alloc(fileBytes).toString("base64")}`;
  const body = Buffer.from(
    JSON.stringify({
      message: {
        content: [
          { type: "text", text: "a" },
          { type: "file", file_data: data, filename: "a.bin" },
        ],
      },
    }),
  );
  const senders = Array.from({ length: accounts }, () => platform.attacker("member"));
  const all = senders.flatMap((sender) => Array<typeof sender>(bodiesOfEach).fill(sender));
  const type = { "content-type": "application/json" };
  // All arrive at once: on a busy machine the last one waits for long.
  return Promise.all(all.map((sender) => exchange(sender, "POST", "/v2/task.create", type, body, hangMs)));
}
