#!/usr/bin/env node
// The program of the installed package. Old versions of Node.js can read this file: they get one sentence instead of a stack.
const needed = 24;
/** Until cli/main.js has the command `serve`. */
const serve = "../src/main.js";

if (Number(process.versions.node.split(".")[0]) < needed) {
  process.stderr.write(`atp needs Node.js ${needed} or newer, and this is Node.js ${process.versions.node}: install it from https://nodejs.org.\n`);
  process.exitCode = 1;
} else if (process.argv[2] === "serve") {
  process.argv.splice(2, 1);
  import(serve);
} else {
  import("../cli/main.js");
}
