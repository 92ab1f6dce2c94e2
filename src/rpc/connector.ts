import type { Handlers } from "../call/handlers.ts";
import { connectorTypes } from "../core/connectors/connector.ts";
import type { Connectors } from "../core/connectors/connectors.ts";
import { ConnectorTypeSchema } from "../gen/proto/connector/v2/connector_pb.ts";
import type { ConnectorService } from "../gen/proto/connector/v2/connector_service_pb.ts";
import { wordsOf } from "./words.ts";

const types = wordsOf(ConnectorTypeSchema, connectorTypes);

/** What is installed (contract/v2.md 8.20). */
export const connectorHandlers = (connectors: Pick<Connectors, "listUsable">): Handlers<typeof ConnectorService> => ({
  async listConnectors(tx, caller) {
    const found = await connectors.listUsable(tx, caller);
    return {
      data: found.map(({ uid, name, type, description, category }) => ({
        id: uid,
        name,
        type: types.toValue(type),
        description,
        category,
      })),
    };
  },
});
