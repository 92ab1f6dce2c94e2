import { fetchFile } from "../egress/fetch-file.ts";
import type { ToolsFor } from "../runtime/agents/model/tool.ts";
import type { Ground } from "./ground.ts";

/** The tools of model agents; they are loaded only where there is a model. Of two of one name the platform's own counts, not one of `others`. */
export async function toolsOf({ config, clock, resolve, log }: Ground, others: readonly ToolsFor[] = []): Promise<ToolsFor> {
  if (Object.keys(config.models).length === 0) return () => [];
  const { modelTools } = await import("../runtime/agents/model/tools/tools.ts");
  const own = modelTools({ fetchFile: fetchFile(config.fetchAllow, clock, resolve), sandboxCommand: config.sandboxCommand, log });
  return (turn) => [...others.flatMap((tools) => tools(turn)), ...own(turn)];
}
