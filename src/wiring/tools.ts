import { fetchFile } from "../egress/fetch-file.ts";
import type { ToolsFor } from "../runtime/agents/model/tool.ts";
import type { Ground } from "./ground.ts";

/** The tools of model agents; they are loaded only where there is a model. */
export async function toolsOf({ config, clock }: Ground): Promise<ToolsFor> {
  if (Object.keys(config.models).length === 0) return () => [];
  const { modelTools } = await import("../runtime/agents/model/tools/tools.ts");
  return modelTools({ fetchFile: fetchFile(config.fetchAllow, clock), sandboxCommand: config.sandboxCommand });
}
