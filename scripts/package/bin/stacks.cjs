// Stack traces name files and lines of the source: the maps in `lib` are read when the first stack trace is, and kept for a minute.
const { readFileSync } = require("node:fs");
const { SourceMap } = require("node:module");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");

const keptMs = 60_000;
const folder = join(__dirname, "../lib/");
const place = new RegExp(
  `${pathToFileURL(folder).href.replaceAll(/[.+]/g, "\\$&")}([\\w./-]+\\.js):(\\d+):(\\d+)`,
);
const maps = new Map();

function mapOf(name) {
  if (maps.size === 0) setTimeout(() => maps.clear(), keptMs).unref();
  if (!maps.has(name))
    maps.set(name, new SourceMap(JSON.parse(readFileSync(`${folder}${name}.map`, "utf8"))));
  return maps.get(name);
}

/** The same text, where the source has no such line or its map cannot be read. */
function sourceOf(text, name, line, column) {
  try {
    const { fileName, lineNumber, columnNumber } = mapOf(name).findOrigin(Number(line), Number(column));
    return fileName ? `${fileName.replace(/^(?:\.\.\/)+/, "")}:${lineNumber}:${columnNumber}` : text;
  } catch {
    return text;
  }
}

function titleOf(error) {
  try {
    return String(error);
  } catch {
    return "Error";
  }
}

Error.prepareStackTrace = (error, sites) =>
  [titleOf(error), ...sites.map((site) => `    at ${String(site).replace(place, sourceOf)}`)].join("\n");
