import { crc32, deflateRawSync } from "node:zlib";

/** An entry of a ZIP, as hostile as a test wants it. */
export interface RawEntry {
  readonly name: string | Uint8Array;
  readonly content?: string | Uint8Array;
  /** Unix mode, in the upper half of the external attributes. */
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: 0 | 8 | 99;
  /** What the headers claim, where it is not the truth. */
  readonly claims?: number;
}

const u16 = (n: number) => Buffer.from([n & 255, (n >> 8) & 255]);
function u32(n: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(n >>> 0);
  return bytes;
}

/** A ZIP by hand: no library would make these. */
export function zipOf(entries: readonly RawEntry[]): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content = "", mode = 0, flags = 0x800, method = 8, claims } of entries) {
    const raw = Buffer.from(typeof name === "string" ? Buffer.from(name) : name);
    const bytes = Buffer.from(content);
    const packed = method === 8 ? deflateRawSync(bytes) : bytes;
    const size = claims ?? bytes.length;
    const shared = [u16(flags), u16(method), u16(0), u16(0x21), u32(crc32(bytes)), u32(packed.length), u32(size), u16(raw.length), u16(0)];
    const header = Buffer.concat([u32(0x04034b50), u16(20), ...shared, raw, packed]);
    central.push(
      Buffer.concat([
        u32(0x02014b50),
        u16((3 << 8) | 20),
        u16(20),
        ...shared,
        u16(0),
        u16(0),
        u16(0),
        u32(mode * 65_536),
        u32(offset),
        raw,
      ]),
    );
    local.push(header);
    offset += header.length;
  }
  const directory = Buffer.concat(central);
  const end = [u32(0x06054b50), u16(0), u16(0), u16(entries.length), u16(entries.length), u32(directory.length), u32(offset), u16(0)];
  return Buffer.concat([...local, directory, ...end]);
}

/** A SKILL.md. */
export const manifest = (name = "Minutes", description = "Writes minutes."): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\nWrite them short.\n`;

/** A skill that is in order, with more beside it. */
export const skillZip = (name = "Minutes", more: readonly RawEntry[] = [], description?: string): Buffer =>
  zipOf([{ name: "SKILL.md", content: manifest(name, description) }, ...more]);
