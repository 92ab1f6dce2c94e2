// LangGraph's API server, with the workers that its command line starts and its store in
// memory. Plain JavaScript, because its packages may not be installed.

import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { startServer } from "@langchain/langgraph-api/server";

// It writes its memory to FOLDER from time to time.
const { PORT, FOLDER } = process.env;
process.chdir(FOLDER);
const graph = relative(FOLDER, fileURLToPath(new URL("langgraph-graph.mjs", import.meta.url)));
await startServer({
  port: Number(PORT),
  nWorkers: 10,
  host: "127.0.0.1",
  cwd: FOLDER,
  graphs: { bench: `./${graph}:graph` },
});
process.stdout.write("peer ready\n");
