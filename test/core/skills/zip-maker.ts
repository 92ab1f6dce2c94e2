import { crc32, deflateRawSync } from "node:zlib";

/** An entry of a ZIP, possibly invalid. */
export interface RawEntry {
  readonly name: string | Uint8Array;
  readonly content?: string | Uint8Array;
  /** Unix mode, in the upper half of the external attributes. */
  readonly mode?: number;
  /** DOS attributes, in the lower half of the external attributes. */
  readonly dos?: number;
  readonly flags?: number;
  readonly method?: 0 | 8 | 99;
  /** The size in the headers, if it differs from the real one. */
  readonly claims?: number;
  /** The checksum in the headers, if it differs from the real one. */
  readonly sum?: number;
  /** It has no separate data; it points to that of the entry with this number. */
  readonly shares?: number;
  /**
   * Additional fields of the entry in the central directory; with them its sizes and offset must be read from
   * there.
   */
  readonly extra?: Uint8Array;
}

const u16 = (n: number) => Buffer.from([n & 255, (n >> 8) & 255]);
function u32(n: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(n >>> 0);
  return bytes;
}
export function u64(n: bigint | number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(n));
  return bytes;
}

/** The ZIP64 field with sizes and offset. */
export const zip64Field = (...numbers: readonly (bigint | number)[]): Buffer =>
  Buffer.concat([u16(1), u16(numbers.length * 8), ...numbers.map(u64)]);

/** The values in a ZIP64 end record. */
export interface Zip64End {
  readonly entries: bigint | number;
  readonly offset: bigint | number;
}

/** Builds a ZIP byte by byte: no library would make these. */
export function zipOf(entries: readonly RawEntry[], zip64End?: Zip64End): Buffer {
  const places: number[] = [];
  const local: Buffer[] = [];
  let length = 0;
  const directory = Buffer.concat(
    entries.map((entry) => {
      const { shared, raw, packed } = headOf(entry);
      places.push(entry.shares === undefined ? length : (places[entry.shares] ?? 0));
      if (entry.shares === undefined) {
        local.push(u32(0x04034b50), u16(20), ...shared, u16(0), raw, packed);
        length = Buffer.concat(local).length;
      }
      return centralOf(entry, shared, raw, places.at(-1) ?? 0);
    }),
  );
  const counts = zip64End ? [u16(0xffff), u16(0xffff)] : [u16(entries.length), u16(entries.length)];
  const end = [
    u32(0x06054b50),
    u16(0),
    u16(0),
    ...counts,
    u32(directory.length),
    u32(zip64End ? 0xffffffff : length),
    u16(0),
  ];
  const before = zip64End ? endOf(zip64End, entries.length, directory.length, length) : [];
  return Buffer.concat([...local, directory, ...before, ...end]);
}

function headOf({ name, content = "", flags = 0x800, method = 8, claims, sum, extra }: RawEntry) {
  const raw = Buffer.from(typeof name === "string" ? Buffer.from(name) : name);
  const bytes = Buffer.from(content);
  const packed = method === 8 ? deflateRawSync(bytes) : bytes;
  const sizes = extra
    ? [u32(0xffffffff), u32(0xffffffff)]
    : [u32(packed.length), u32(claims ?? bytes.length)];
  const shared = [
    u16(flags),
    u16(method),
    u16(0),
    u16(0x21),
    u32(sum ?? crc32(bytes)),
    ...sizes,
    u16(raw.length),
  ];
  return { shared, raw, packed };
}

function centralOf(
  { mode = 0, dos = 0, extra = new Uint8Array() }: RawEntry,
  shared: readonly Buffer[],
  raw: Buffer,
  place: number,
): Buffer {
  const offset = extra.length > 0 ? 0xffffffff : place;
  const more = [u16(extra.length), u16(0), u16(0), u16(0), u32(mode * 65_536 + dos), u32(offset), raw, extra];
  return Buffer.concat([u32(0x02014b50), u16((3 << 8) | 20), u16(20), ...shared, ...more]);
}

/** The ZIP64 end record and its locator. */
function endOf({ entries, offset }: Zip64End, count: number, size: number, start: number): Buffer[] {
  const head = [u32(0x06064b50), u64(44), u16(45), u16(45), u32(0), u32(0)];
  return [
    ...head,
    u64(count),
    u64(entries),
    u64(size),
    u64(offset),
    u32(0x07064b50),
    u32(0),
    u64(start + size),
    u32(1),
  ];
}

/** A SKILL.md. */
export const manifest = (name = "Minutes", description = "Writes minutes."): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\nWrite them short.\n`;

/** A valid skill with additional entries. */
export const skillZip = (name = "Minutes", more: readonly RawEntry[] = [], description?: string): Buffer =>
  zipOf([{ name: "SKILL.md", content: manifest(name, description) }, ...more]);
