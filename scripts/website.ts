// `npm run --silent website -- cap WEBSITE_ID public|team|private|none`: the most people that a website may be opened by.
import { loadConfig } from "../src/config.ts";
import { systemClock } from "../src/core/clock.ts";
import { Failure } from "../src/core/failure.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import { type Visibility, visibilities } from "../src/core/visibility.ts";
import { openInstallation } from "../src/installation.ts";
import { processLog } from "../src/log.ts";
import { fail } from "./fail.ts";

const usage = `usage: npm run --silent website -- cap WEBSITE_ID public|team|private|none

It counts from the next request on: team shuts everybody out who is no member, private everybody. none lifts the cap.
`;

const isVisibility = (text: string): text is Visibility => (visibilities as readonly string[]).includes(text);

/** Works beside running servers. @throws Failure `absent` for an unknown website. */
async function cap(id: string, most: Visibility | null): Promise<void> {
  const outside = { clock: systemClock, ids: systemIds, random: systemRandom, log: processLog("warn") };
  const { store } = await openInstallation(loadConfig(), outside, async () => undefined);
  try {
    if (!(await store.change((tx) => tx.websites.cap(id, most, systemClock.now()))))
      throw new Failure("absent", "there is no such website");
  } finally {
    await store.close();
  }
}

const [command, id = "", most = "", ...more] = process.argv.slice(2);
if (command !== "cap" || id === "" || !(most === "none" || isVisibility(most)) || more.length > 0) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else await cap(id, most === "none" ? null : most).catch(fail);
