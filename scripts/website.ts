// `npm run --silent website -- cap WEBSITE_ID public|team|private|none`: the most people that a website may be opened by.
import { systemClock } from "../src/core/clock.ts";
import { Failure } from "../src/core/failure.ts";
import { type Visibility, visibilities } from "../src/core/visibility.ts";
import { runCommand, useInstallation } from "./command.ts";

const usage = `usage: npm run --silent website -- cap WEBSITE_ID public|team|private|none

It counts from the next request on: team shuts everybody out who is no member, private everybody. none lifts the cap.
`;

const isVisibility = (text: string): text is Visibility => (visibilities as readonly string[]).includes(text);

interface Wanted {
  readonly id: string;
  /** Null lifts the cap. */
  readonly most: Visibility | null;
}

/** What is asked for; null when the words make no sense. */
function parse([command, id = "", most = "", ...more]: readonly string[]): Wanted | null {
  if (command !== "cap" || id === "" || more.length > 0) return null;
  if (most === "none") return { id, most: null };
  return isVisibility(most) ? { id, most } : null;
}

/** @throws Failure `absent` for an unknown website. */
async function cap({ id, most }: Wanted): Promise<undefined> {
  await using installation = await useInstallation();
  if (!(await installation.store.change((tx) => tx.websites.cap(id, most, systemClock.now()))))
    throw new Failure("absent", "there is no such website");
}

await runCommand({ usage, parse }, cap);
