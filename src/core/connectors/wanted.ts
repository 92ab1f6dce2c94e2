import { invalid } from "../failure.ts";
import { connectorById, myBrowserId } from "./catalogue.ts";
import type { ConnectorServer } from "./connector.ts";
import type { WantedServer } from "./server-rules.ts";

/** What somebody wants to install. */
export interface WantedConnector {
  /** Empty: a server of one's own. */
  readonly uid: string;
  /** Empty: the catalogue's. */
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly forSpace: boolean;
  readonly isDefault: boolean;
  readonly server: WantedServer;
}

/** What is said of it: by whoever installs it, or by the catalogue. @throws Failure `invalid` */
export function readWanted({ uid, name, description, category }: WantedConnector) {
  const known = uid === "" ? undefined : connectorById(uid);
  if (uid !== "" && !known) throw invalid("uid", "is not in the catalogue");
  const own = { name: name || known?.name || "", description, category };
  for (const [path, text] of Object.entries(own))
    if (/\p{Cc}|\p{Bidi_Control}/u.test(text)) throw invalid(path, "must have no control characters");
  if (own.name.trim() === "") throw invalid("name", "is needed for what is not in the catalogue");
  return { uid, ...own };
}

/** Whether there may be such a server at such a place of the catalogue. @throws Failure `invalid` */
export function checkPlace(uid: string, { transport }: ConnectorServer): void {
  if (uid === "" && transport === "none") throw invalid("http", "a server is needed for what is not in the catalogue");
  // Its scope opens it to apps that were granted no connector (contract/oauth.md 2): no server may stand behind it.
  if (uid === myBrowserId && transport !== "none") throw invalid("uid", "is the platform's own, which has no server");
}
