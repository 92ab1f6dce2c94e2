import { type JsonObject, jsonDigest } from "../json.ts";
import type { ConnectorTool, InstalledConnector } from "./connector.ts";

/** A tool of a connector, and what it is given. */
export interface WantedUse {
  /** The connector's. */
  readonly uid: string;
  readonly tool: string;
  readonly input: JsonObject;
}

/**
 * What a tool is to whoever agrees to a use of it, as a digest: another installation, description or schema is another
 * tool, whatever its name.
 */
export const definitionOf = ({ id }: Pick<InstalledConnector, "id">, { name, description, inputSchema }: ConnectorTool): string =>
  jsonDigest({ id, name, description, inputSchema }).slice(0, 32);

/** The params of a confirmation of the kind `connectorAction`: what the user sees, and agrees to. */
export const approvalParams = ({ uid, tool, input }: WantedUse, definition: string): JsonObject => ({
  ...{ connector: uid, tool, input, definition },
});

/** The definition that somebody has agreed to by a confirmation with these params; null where it was of another use. */
export function agreedTo(params: JsonObject, { uid, tool, input }: WantedUse): string | null {
  const { connector, tool: asked, input: given = {}, definition } = params;
  const same = connector === uid && asked === tool && jsonDigest(given) === jsonDigest(input);
  return same && typeof definition === "string" ? definition : null;
}
