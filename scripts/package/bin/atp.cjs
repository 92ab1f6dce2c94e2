#!/usr/bin/env node
// The program of the installed package. Old versions of Node.js can read this file: they get one sentence instead of a stack.
const needed = 24;

if (Number(process.versions.node.split(".")[0]) < needed) {
  process.stderr.write(
    `atp needs Node.js ${needed} or newer, and this is Node.js ${process.versions.node}: install it from https://nodejs.org.\n`,
  );
  process.exitCode = 1;
} else {
  require("./stacks.cjs");
  import("../lib/atp.js");
}
