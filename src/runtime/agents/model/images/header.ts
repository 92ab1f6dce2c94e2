/** A picture as its bytes describe it; they are not decoded. */
export interface Picture {
  readonly mediaType: "image/png" | "image/jpeg" | "image/webp" | "image/gif";
  /** In pixels: what a decoder allocates. */
  readonly width: number;
  readonly height: number;
  /** The file; of a GIF its first frame. */
  readonly bytes: Buffer;
}

type Size = Pick<Picture, "width" | "height">;

/**
 * Reads the structure of a PNG (ISO/IEC 15948), JPEG (ITU T.81), WebP (RFC 9649) or GIF (89a), and nothing of its
 * pixels. Null for other files, and for one that is cut or contradicts itself. The time is linear in the bytes.
 */
export function readPicture(bytes: Buffer): Picture | null {
  const start = bytes.toString("latin1", 0, 12);
  try {
    if (start.startsWith("\x89PNG\r\n\x1a\n")) return pictureOf("image/png", pngSize(bytes), bytes);
    if (start.startsWith("\xff\xd8\xff")) return pictureOf("image/jpeg", jpegSize(bytes), bytes);
    if (start.startsWith("RIFF") && start.endsWith("WEBP"))
      return pictureOf("image/webp", webpSize(bytes), bytes);
    if (/^GIF8[79]a/.test(start)) return gifOf(bytes);
    return null;
  } catch (thrown) {
    // A read beyond the end.
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

const pictureOf = (mediaType: Picture["mediaType"], size: Size | null, bytes: Buffer): Picture | null =>
  size && size.width > 0 && size.height > 0 ? { mediaType, ...size, bytes } : null;

function pngSize(bytes: Buffer): Size | null {
  if (bytes.toString("latin1", 12, 16) !== "IHDR" || bytes.readUInt32BE(8) !== 13) return null;
  let hasPixels = false;
  for (let at = 8; ; ) {
    const type = bytes.toString("latin1", at + 4, at + 8);
    const next = at + 12 + bytes.readUInt32BE(at);
    if (next > bytes.length || (type === "IHDR" && at > 8)) return null;
    hasPixels ||= type === "IDAT";
    if (type === "IEND")
      return hasPixels ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : null;
    at = next;
  }
}

function jpegSize(bytes: Buffer): Size | null {
  let size: Size | null = null;
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) return null;
    const marker = bytes.readUInt8(at + 1);
    // Fill bytes may precede a marker.
    if (marker === 0xff) at += 1;
    else if (marker === 0xda) return bytes.lastIndexOf("\xff\xd9", undefined, "latin1") > at ? size : null;
    else {
      const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
      if (isFrame && size) return null;
      if (isFrame) size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
      at += 2 + bytes.readUInt16BE(at + 2);
    }
  }
}

function webpSize(bytes: Buffer): Size | null {
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) return null;
  const sizes: Size[] = [];
  let hasPixels = false;
  for (let at = 12; at + 8 <= end; ) {
    const type = bytes.toString("latin1", at, at + 4);
    const length = bytes.readUInt32LE(at + 4);
    const data = at + 8;
    if (data + length > end) return null;
    hasPixels ||= type !== "VP8X" && type in webpSizes;
    const size = webpSizes[type]?.(bytes, data);
    if (size) sizes.push(size);
    at = data + length + (length % 2);
  }
  return hasPixels ? largest(sizes) : null;
}

const plusOne = (bytes: Buffer, width: number, height: number): Size => ({
  width: bytes.readUIntLE(width, 3) + 1,
  height: bytes.readUIntLE(height, 3) + 1,
});
/** The sizes in the chunks of a WebP, at their data: of the canvas, of a frame, and of both kinds of pixels. */
const webpSizes: Readonly<Record<string, (bytes: Buffer, at: number) => Size>> = {
  VP8X: (bytes, at) => plusOne(bytes, at + 4, at + 7),
  ANMF: (bytes, at) => plusOne(bytes, at + 6, at + 9),
  "VP8 ": (bytes, at) => ({
    width: bytes.readUInt16LE(at + 6) & 0x3fff,
    height: bytes.readUInt16LE(at + 8) & 0x3fff,
  }),
  VP8L(bytes, at) {
    const bits = bytes.readUInt32LE(at + 1);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  },
};

const largest = (sizes: readonly Size[]): Size =>
  sizes.reduce(
    (one, other) => ({
      width: Math.max(one.width, other.width),
      height: Math.max(one.height, other.height),
    }),
    { width: 0, height: 0 },
  );

/** The bytes of a table of colours (GIF 89a, 19 and 21); its flags are at `at`. */
const tableOf = (bytes: Buffer, at: number): number => {
  const flags = bytes.readUInt8(at);
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
};

function gifOf(bytes: Buffer): Picture | null {
  const screen = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  for (let at = 13 + tableOf(bytes, 10); ; ) {
    const kind = bytes.readUInt8(at);
    if (kind === 0x21) at = afterBlocks(bytes, at + 2);
    else if (kind === 0x2c) {
      const end = afterBlocks(bytes, at + 11 + tableOf(bytes, at + 9));
      const frame = {
        width: bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5),
        height: bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7),
      };
      const first = Buffer.concat([bytes.subarray(0, end), Buffer.from([0x3b])]);
      return pictureOf("image/gif", largest([screen, frame]), first);
    } else return null;
  }
}

/** The end of a list of blocks, of which the last is empty. */
function afterBlocks(bytes: Buffer, from: number): number {
  for (let at = from; ; ) {
    const length = bytes.readUInt8(at);
    at += 1 + length;
    if (length === 0) return at;
  }
}
