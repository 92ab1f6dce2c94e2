import { readFile } from "node:fs/promises";
import type { Server } from "node:http";
import { join } from "node:path";
import { createLogger, createServer, type Logger, type ViteDevServer } from "vite";
import type { Modules } from "./front.ts";

/** Starts Vite for the console in this process; its WebSocket is on the front. */
export async function startConsole(root: string, front: Server): Promise<ViteDevServer> {
  const logger = onceASave(createLogger("warn", { allowClearScreen: false }));
  const vite = await createServer({
    configFile: join(root, "console/vite.config.ts"),
    appType: "custom",
    customLogger: logger,
    server: {
      middlewareMode: true,
      ws: { server: front },
      // Modules of src/core and of node_modules; never data, keys or what git has.
      fs: { allow: [root], deny: [".env*", "*.{pem,crt,key,db}", "**/.git/**", "**/.dev/**", "**/data/**"] },
    },
  });
  vite.watcher.on("change", logger.saved);
  return vite;
}

export const modulesOf = (vite: ViteDevServer, root: string): Modules => ({
  serve: (request, response) =>
    vite.middlewares(
      request,
      response,
      (fault?: unknown) => void response.writeHead(fault === undefined ? 404 : 500).end(),
    ),
  // Only with the name of the file, Vite makes its relative addresses absolute.
  page: async (url) =>
    vite.transformIndexHtml("/index.html", await readFile(join(root, "console/index.html"), "utf8"), url),
});

/** Prints an error once after each save: Vite reports an error of syntax for each request of the module. */
function onceASave(logger: Logger): Logger & { saved(): void } {
  const printed = new Set<string>();
  return {
    ...logger,
    error(message, options) {
      // Vite asks for a saved module with the time of the save.
      const fault = (options?.error?.message ?? message).replaceAll(/\?t=\d+/g, "");
      if (!printed.has(fault)) logger.error(message, options);
      printed.add(fault);
    },
    saved: () => printed.clear(),
  };
}
