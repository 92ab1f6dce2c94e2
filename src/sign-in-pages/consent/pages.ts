import { notFound } from "../../core/failure.ts";
import type { MorePages } from "../console.ts";
import type { AuthorizationSettings } from "./approval.ts";
import { authorizeRoutes } from "./authorize.ts";
import { connectorRoutes } from "./connectors.ts";
import { deviceRoutes } from "./device.ts";

/** Only pages are below these paths: unknown paths are answered with a page. */
const pagePaths = ["/openapi/*", "/oauth-apps/*", "/account/*", "/sign-in/*", "/device/*"];

/** The pages on which users authorize apps. */
export const consentPages =
  (settings: AuthorizationSettings): MorePages =>
  (app, parts) => {
    authorizeRoutes(app, parts, settings);
    deviceRoutes(app, parts, settings);
    connectorRoutes(app, parts);
    const refuseUnknown = async () => {
      throw notFound("page");
    };
    for (const url of pagePaths) app.route({ method: ["GET", "POST"], url, handler: refuseUnknown });
  };
