import type { Dispatcher } from "../async/dispatcher.ts";
import { complianceExports, exports } from "../core/exports/exports.ts";
import { exportLinks } from "../core/exports/links.ts";
import { complianceExportHandlers } from "../rpc/compliance-export.ts";
import { dataExportHandlers, dataExportV2Handlers } from "../rpc/data-export.ts";
import { startExporter } from "../runtime/exports/exporter.ts";
import { exportWriters } from "./export-writers.ts";
import type { CreateModule } from "./module.ts";
import type { ProcessContext } from "./process-context.ts";
import type { Shared } from "./shared.ts";

export const createExports: CreateModule = ({ config, cipher, clock, ids }) => {
  const links = exportLinks(cipher, config.baseUrl);
  const dataExports = exports({ clock, ids, links });
  const stepExports = complianceExports({ clock, ids, links, payloads: config.siemPayloads });
  return {
    handlers: [
      dataExportHandlers(dataExports),
      dataExportV2Handlers(dataExports),
      complianceExportHandlers(stepExports),
    ],
  };
};

export const startExports = (
  context: ProcessContext,
  { files, sites }: Pick<Shared, "files" | "sites">,
): Dispatcher => startExporter({ ...context, ...files, writers: exportWriters(sites.siteUrl) });
