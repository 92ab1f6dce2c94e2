import { createPdfOf } from "../adapters/pdf/pdf-of.ts";
import { exportLinks } from "../core/exports/links.ts";
import { fileRoutes } from "../http/files/routes.ts";
import { fileHandlers } from "../rpc/file.ts";
import type { CreateModule } from "./module.ts";

export const createFiles: CreateModule = ({ config, store, cipher, clock, log, files, calls }) => {
  const { pdf, corsOrigins, baseUrl } = config;
  const own = {
    store,
    cipher,
    clock,
    corsOrigins,
    exportLinks: exportLinks(cipher, baseUrl),
    pdfOf: createPdfOf({ chromium: pdf, clock, log }),
  };
  return {
    handlers: [fileHandlers(files.files, files.links, clock)],
    routes: [(scope) => fileRoutes(scope, { ...calls, ...files, ...own })],
  };
};
