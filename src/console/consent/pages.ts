import { absent } from "../../core/failure.ts";
import type { MorePages } from "../console.ts";
import { appsRoutes } from "./apps.ts";
import { authorizeRoutes } from "./authorize.ts";
import { connectorRoutes } from "./connectors.ts";

/** Below these there are pages, and nothing else: what is unknown is told as a page. */
const ours = ["/openapi/*", "/oauth-apps/*", "/account/*", "/sign-in/*"];

/**
 * The pages on which users let apps act for them, and take it back.
 *
 * @param issuer this installation's name in answers to apps (RFC 9207).
 */
export const consentPages =
  (issuer: string): MorePages =>
  (app, parts) => {
    authorizeRoutes(app, parts, issuer);
    connectorRoutes(app, parts);
    appsRoutes(app, parts);
    const lost = async () => {
      throw absent("page");
    };
    for (const url of ours) app.route({ method: ["GET", "POST"], url, handler: lost });
  };
