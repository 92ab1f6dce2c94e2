import { deflateSync } from "node:zlib";
import { createCanvas } from "@napi-rs/canvas";
import { describe, expect, test } from "vitest";
import { findPackage } from "../../../src/async/optional-packages.ts";
import { imageShower } from "../../../src/runtime/agents/model/images/show.ts";
import { pdfOf } from "../../support/pdf.ts";
import { gifOf, pngOf } from "../../support/pictures.ts";

const { signal } = new AbortController();
const [plain, scaling] = [
  imageShower(() => null),
  imageShower(() => findPackage("@napi-rs/canvas", "/nonexistent")),
];
const sourceOf = (bytes: Uint8Array, pages?: readonly number[]) => ({
  name: "it",
  read: async function* () {
    yield bytes;
  },
  ...(pages && { pages }),
});
/** What the model gets of a picture. */
async function shown(show: typeof plain, bytes: Uint8Array, pages?: readonly number[]) {
  return (await show(sourceOf(bytes, pages), signal)).map(({ bytes: drawn, ...image }) => ({
    ...image,
    isSmall: drawn.length < 600_000,
  }));
}
const drawing = createCanvas(20, 10);
const [png, jpeg, webp] = [pngOf(20, 10), await drawing.encode("jpeg"), await drawing.encode("webp")];

/** A JPEG with another size in its header. */
function lyingJpeg(side: number): Buffer {
  const copy = Buffer.from(jpeg);
  const frame = copy.indexOf("\xff\xc0", 0, "latin1");
  copy.writeUInt16BE(side, frame + 5);
  copy.writeUInt16BE(side, frame + 7);
  return copy;
}

/** A JPEG with two frames' headers. */
function twoSizes(): Buffer {
  const start = jpeg.indexOf("\xff\xc0", 0, "latin1");
  const frame = jpeg.subarray(start, start + 2 + jpeg.readUInt16BE(start + 2));
  return Buffer.concat([jpeg.subarray(0, start), frame, jpeg.subarray(start)]);
}

describe.each([
  ["without the package", plain],
  ["with the package", scaling],
])("a picture %s", (_, show) => {
  test.each([
    ["image/png", png],
    ["image/jpeg", jpeg],
  ])("of the type %s is shown in its size", async (mediaType, bytes) => {
    expect(await shown(show, bytes)).toEqual([
      { name: "it", mediaType, width: 20, height: 10, isSmall: true },
    ]);
  });

  test("of the types WebP and GIF is shown, of a GIF the first frame", async () => {
    expect(await shown(show, webp)).toMatchObject([{ width: 20, height: 10 }]);
    expect(await show(sourceOf(gifOf(2)), signal)).toEqual(await show(sourceOf(gifOf(1)), signal));
  });

  test.each([
    ["an SVG", Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ["a text", Buffer.from("Not a picture")],
    ["empty", Buffer.alloc(0)],
    ["a PNG that is cut", png.subarray(0, png.length - 2)],
    ["a PNG without pixels", Buffer.concat([png.subarray(0, 33), png.subarray(-12)])],
    ["a PNG of no pixel", pngOf(1, 1, { width: 0, height: 1 })],
    ["a PNG with an SVG in it", Buffer.concat([png.subarray(0, 8), Buffer.from("<svg/>")])],
    ["a JPEG that is cut", jpeg.subarray(0, 300)],
    ["a JPEG with two sizes", twoSizes()],
    ["a WebP that is cut", webp.subarray(0, webp.length - 4)],
    ["a GIF without a frame", gifOf(0)],
    ["a GIF that is cut", gifOf(1).subarray(0, 25)],
  ])("that is %s is refused with the reason", async (_name, bytes) => {
    await expect(show(sourceOf(bytes), signal)).rejects.toMatchObject({
      reason: "invalid_argument",
      message: "it is not a PNG, JPEG, WebP or GIF picture, or it is broken or not complete",
    });
  });

  test.each([
    ["a PNG", pngOf(1, 1, { width: 60_000, height: 60_000 })],
    ["a JPEG", lyingJpeg(60_000)],
  ])("whose header claims too many pixels is refused before it is decoded: %s", async (_name, bytes) => {
    await expect(show(sourceOf(bytes), signal)).rejects.toThrow("it has 60000 x 60000 pixels: at most");
  });
});

test("without the package a picture of more than 5 MiB is refused, and names the package", async () => {
  const large = Buffer.concat([png.subarray(0, -12), largeChunk(), png.subarray(-12)]);
  await expect(plain(sourceOf(large), signal)).rejects.toThrow(
    "at most 5242880 can be shown; the operator can install the package @napi-rs/canvas",
  );
});

/** A chunk of a PNG that decoders skip. */
function largeChunk(): Buffer {
  const chunk = Buffer.alloc(12 + 6 * 1024 ** 2);
  chunk.writeUInt32BE(chunk.length - 12);
  chunk.write("teXt", 4);
  return chunk;
}

test("the package makes a large picture smaller, 1568 pixels at most on a side", async () => {
  expect(await shown(scaling, pngOf(4_000, 2_000))).toEqual([
    { name: "it", mediaType: "image/png", width: 1_568, height: 784, isSmall: true },
  ]);
  expect(await shown(scaling, pngOf(1, 9_000))).toMatchObject([{ width: 1, height: 1_568 }]);
});

test("pixels that do not fit the header do not reach the model unread, and end nothing", async () => {
  // Decoders fill what is missing, or fail: both are fine.
  for (const bytes of [pngOf(4, 4, { width: 6_000, height: 6_000 }), lyingJpeg(7_000)])
    await shown(scaling, bytes).then(
      ([image]) => expect(image).toMatchObject({ isSmall: true, width: 1_568 }),
      (thrown) => expect(thrown).toMatchObject({ reason: "invalid_argument" }),
    );
});

test("a page of a PDF is drawn, also with a size that is too large", async () => {
  const bar = pdfOf([{ deflated: deflateSync("100 600 400 100 re f") }]);
  const huge = Buffer.from(bar.toString("latin1").replace("[0 0 612 792]", "[0 0 9e9 8e9]"), "latin1");
  expect(await shown(scaling, bar, [1])).toEqual([
    { name: "page 1 of it", mediaType: "image/png", width: 1_212, height: 1_568, isSmall: true },
  ]);
  const [drawn] = await scaling(sourceOf(bar, [1]), signal);
  const [empty] = await scaling(sourceOf(pdfOf([""]), [1]), signal);
  expect(drawn?.bytes).not.toEqual(empty?.bytes);
  expect((await shown(scaling, huge, [1]))[0]?.height).toBeLessThanOrEqual(1_568);
  await expect(scaling(sourceOf(bar, [2]), signal)).rejects.toThrow("the pages cannot be drawn");
  await expect(plain(sourceOf(bar, [1]), signal)).rejects.toThrow("atp packages add @napi-rs/canvas");
});
