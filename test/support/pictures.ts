import { crc32, deflateSync } from "node:zlib";

/** A chunk of a PNG. */
function chunk(type: string, data: Buffer): Buffer {
  const [body, length, sum] = [
    Buffer.concat([Buffer.from(type, "latin1"), data]),
    Buffer.alloc(4),
    Buffer.alloc(4),
  ];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A PNG in one colour. @param claimed the size in its header, when it is not the size of its pixels. */
export function pngOf(width: number, height: number, claimed = { width, height }): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(claimed.width, 0);
  header.writeUInt32BE(claimed.height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.alloc((width + 1) * height, 0x55), { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const frame = Buffer.from("2c0000000001000100000202440100", "hex");

/** A GIF of one pixel, with this many frames. */
export const gifOf = (frames: number): Buffer =>
  Buffer.concat([
    Buffer.from("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff", "latin1"),
    ...Array.from({ length: frames }, () => frame),
    Buffer.from([0x3b]),
  ]);
