// `npm run --silent website -- cap WEBSITE_ID public|team|private|none`: sets the highest allowed visibility of a website.
import { systemClock } from "../src/core/clock.ts";
import { Failure } from "../src/core/failure.ts";
import { type Visibility, visibilities } from "../src/core/visibility.ts";
import { type OpenedInstallation, runOnInstallation } from "./command.ts";

const usage = `usage: npm run --silent website -- cap WEBSITE_ID public|team|private|none

The cap applies to the next request. With team, only members of the team can open the website; with private, no one can. none removes the cap.
`;

const isVisibility = (text: string): text is Visibility => (visibilities as readonly string[]).includes(text);

interface CapCommand {
  readonly id: string;
  /** Null removes the cap. */
  readonly visibility: Visibility | null;
}

function read(_: object, [command, id = "", visibility = "", ...more]: readonly string[]): CapCommand | null {
  if (command !== "cap" || id === "" || more.length > 0) return null;
  if (visibility === "none") return { id, visibility: null };
  return isVisibility(visibility) ? { id, visibility } : null;
}

/** @throws Failure `absent` for an unknown website. */
async function cap({ id, visibility }: CapCommand, { store }: OpenedInstallation): Promise<undefined> {
  if (!(await store.change((tx) => tx.websites.setOperatorCap(id, visibility, systemClock.now()))))
    throw new Failure("not_found", "there is no such website");
}

await runOnInstallation({ usage, options: {}, acceptsPositionals: true, read }, cap);
