import type { Figure } from "./figure.ts";
import { agentFigure } from "./figures/agent.ts";
import { archiveFigures } from "./figures/archive.ts";
import { createFigures } from "./figures/create.ts";
import { deltaFigure } from "./figures/deltas.ts";
import { detailFigures } from "./figures/detail.ts";
import { exportFigures } from "./figures/export.ts";
import { fileFigures } from "./figures/files.ts";
import { filterFigures } from "./figures/filters.ts";
import { listFigures } from "./figures/list.ts";
import { mcpFigures } from "./figures/mcp.ts";
import { oauthFigures } from "./figures/oauth.ts";
import { otherFigures } from "./figures/others.ts";
import { runFigures } from "./figures/run.ts";
import { siteFigures } from "./figures/site.ts";
import { telemetryFigures } from "./figures/telemetry.ts";
import { waitingFigures } from "./figures/waiting.ts";
import { watchFigure } from "./figures/watch.ts";
import { webhookFigures } from "./figures/webhooks.ts";
import { workerFigures } from "./figures/workers.ts";

const figures: readonly Figure[] = [
  ...detailFigures,
  ...createFigures,
  ...runFigures,
  agentFigure,
  ...workerFigures,
  ...listFigures,
  ...filterFigures,
  ...waitingFigures,
  ...oauthFigures,
  ...fileFigures,
  ...siteFigures,
  ...exportFigures,
  ...archiveFigures,
  ...mcpFigures,
  ...otherFigures,
  watchFigure,
  deltaFigure,
  ...webhookFigures,
  ...telemetryFigures,
];

/** The names of all figures. */
export const figureNames: readonly string[] = figures.flatMap(({ names }) => names);

/** The figures with these names; all figures if the list is empty. */
export const selectFigures = (requested: readonly string[]): readonly Figure[] =>
  figures.filter(({ names }) => requested.length === 0 || names.some((name) => requested.includes(name)));
