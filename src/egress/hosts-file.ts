import { readFile, stat } from "node:fs/promises";
import { isIP } from "node:net";

/** The addresses that this machine itself gives a name; none for what is to be asked of the DNS. */
export type LocalNames = (host: string) => Promise<readonly string[]>;

/** A name without its last dot, which says only that nothing follows. */
const plainName = (host: string): string => host.toLowerCase().replace(/\.$/, "");

/** RFC 6761 6.3: these names are never asked of the DNS. */
const isLocalhost = (name: string): boolean => name === "localhost" || name.endsWith(".localhost");

/**
 * The names of a file in the form of `/etc/hosts`, read again when it has changed. `localhost`, and names under it, lead to
 * loopback where the file does not say otherwise. A file that cannot be read names nothing.
 */
export function hostsFile(path = "/etc/hosts"): LocalNames {
  let read: { readonly version: string; readonly names: Promise<ReadonlyMap<string, readonly string[]>> } | undefined;

  async function names() {
    const version = await stat(path).then(
      ({ ino, size, mtimeMs, ctimeMs }) => [ino, size, mtimeMs, ctimeMs].join(" "),
      () => "none",
    );
    if (read?.version !== version) read = { version, names: readFile(path, "utf8").then(parseHosts, () => new Map()) };
    return read.names;
  }

  return async (host) => {
    const name = plainName(host);
    return (await names()).get(name) ?? (isLocalhost(name) ? ["127.0.0.1", "::1"] : []);
  };
}

/** Lines of an address and its names, as hosts(5) describes them; the addresses of all lines that hold a name count. */
export function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...given] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of new Set(given.map(plainName))) {
      const known = names.get(name);
      if (known === undefined) names.set(name, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return names;
}
