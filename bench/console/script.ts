import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../endurance/finding.ts";
import { root } from "../servers.ts";
import { roundSignificant } from "../statistics.ts";

const folder = join(root, "src/gen/console");
const assets = join(folder, "console/assets");

/** The most that the first load may have, gzipped. */
const goalKb = 185;

const kilobytes = (names: readonly string[]): number =>
  roundSignificant(names.reduce((sum, name) => sum + statSync(join(assets, `${name}.gz`)).size, 0) / 1000);

/** The gzipped size of the scripts that the first page loads, and of all scripts. */
export function measureScript(): Finding {
  const page = readFileSync(join(folder, "index.html"), "utf8");
  const first = [...page.matchAll(/console\/assets\/([^"]+\.js)/g)].map(([, name = ""]) => name);
  const all = readdirSync(assets).filter((name) => name.endsWith(".js"));
  const styles = [...page.matchAll(/console\/assets\/([^"]+\.css)/g)].map(([, name = ""]) => name);
  return {
    figure: "console.script",
    ours: kilobytes(first),
    goal: goalKb,
    unit: "kB gzipped, first load",
    styles: kilobytes(styles),
    all: kilobytes(all),
    chunks: all.length,
  };
}
