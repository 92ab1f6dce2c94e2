import { a2a, agui, mcpForm, mcpResult } from "./door-surfaces.ts";
import { testSurface } from "./loop.ts";

/** The clients on which a person can be asked for an approval. The console is in test/browser. */
const surfaces = { "MCP form": mcpForm, "MCP result": mcpResult, "AG-UI": agui, A2A: a2a };
const parts = Object.keys(surfaces).length;
for (const [part, [name, open]] of Object.entries(surfaces).entries()) testSurface(name, open, { hasRoomLimit: true, part, parts });
