import { createRequire } from "node:module";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import type { Canvas } from "@napi-rs/canvas";
import type { Picture } from "../../images/header.ts";
import type { Drawn } from "../../images/source.ts";

/** The input of this thread, from `show.ts`: a picture whose header was read, or pages of a PDF. */
export interface Drawing {
  readonly bytes: Uint8Array;
  readonly mediaType?: Picture["mediaType"];
  readonly pages?: readonly number[];
  /** The folder `node_modules` that has the package. */
  readonly folder: string | null;
}

/** The most pixels of the longer side: services make larger ones smaller. */
const sideMax = 1_568;
/** A larger PNG is sent as a JPEG. */
const pngMax = 512 * 1024;
const quality = 85;

const { bytes, mediaType, pages, folder } = workerData as Drawing;
const canvasPackage: typeof import("@napi-rs/canvas") = createRequire(join(folder ?? "", "-"))(
  "@napi-rs/canvas",
);

/** The scale at which the longer side fits. @param max the most that it may be enlarged. */
const scaleOf = (
  { width, height }: { readonly width: number; readonly height: number },
  max: number,
): number => Math.min(max, sideMax / Math.max(1, width, height));

async function encode(drawn: Canvas, isPhoto: boolean): Promise<Drawn> {
  const { width, height } = drawn;
  const png = isPhoto ? null : await drawn.encode("png");
  if (png && png.length <= pngMax) return { mediaType: "image/png", width, height, bytes: png };
  return { mediaType: "image/jpeg", width, height, bytes: await drawn.encode("jpeg", quality) };
}

/** White, since a JPEG has no transparent pixels. */
function createCanvas(width: number, height: number): Canvas {
  const canvas = canvasPackage.createCanvas(Math.max(1, Math.round(width)), Math.max(1, Math.round(height)));
  const context = canvas.getContext("2d");
  context.fillStyle = "#fff";
  context.fillRect(0, 0, canvas.width, canvas.height);
  return canvas;
}

async function drawPicture(): Promise<Drawn> {
  const image = await canvasPackage.loadImage(Buffer.from(bytes));
  const scale = scaleOf(image, 1);
  const canvas = createCanvas(image.width * scale, image.height * scale);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return encode(canvas, mediaType === "image/jpeg");
}

async function drawPages(numbers: readonly number[]): Promise<readonly Drawn[]> {
  const { createIsomorphicCanvasFactory, getDocumentProxy } = await import("unpdf");
  const CanvasFactory = await createIsomorphicCanvasFactory(async () => canvasPackage);
  const document = await getDocumentProxy(Uint8Array.from(bytes), { CanvasFactory });
  const drawn: Drawn[] = [];
  for (const number of numbers) {
    const page = await document.getPage(number);
    const viewport = page.getViewport({ scale: scaleOf(page.getViewport({ scale: 1 }), 4) });
    const canvas = createCanvas(viewport.width, viewport.height);
    // The types of the browser's canvas, which this one implements.
    await page.render({ canvas: canvas as never, canvasContext: canvas.getContext("2d") as never, viewport })
      .promise;
    drawn.push(await encode(canvas, false));
  }
  return drawn;
}

const draw = pages ? drawPages(pages) : drawPicture().then((one) => [one]);
parentPort?.postMessage(await draw.catch(() => null));
