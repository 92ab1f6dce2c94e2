import { testSurface } from "./loop.ts";
import { a2a, agui, mcpForm, mcpResult } from "./protocol-surfaces.ts";
import { acp, pseudoTerminal, terminal } from "./terminal-surfaces.ts";

/** The clients on which a person can get an approval. The console is in test/browser. */
const surfaces = {
  "MCP form": mcpForm,
  "MCP result": mcpResult,
  "AG-UI": agui,
  A2A: a2a,
  "a terminal": terminal,
};
const parts = Object.keys(surfaces).length;
for (const [part, [name, open]] of Object.entries(surfaces).entries())
  testSurface(name, open, { hasRoomLimit: true, part, parts });

// Programs: each of them costs a second, so `npm test` has one action of each.
testSurface("a pseudo-terminal", pseudoTerminal, { hasRoomLimit: true, part: 0, parts: 20 });
const leaves = ["needConnectMyBrowser", "videoGenerate", "apiHighCreditNotice"];
testSurface("ACP", acp, { hasRoomLimit: true, leaves, part: 1, parts: 20 });
