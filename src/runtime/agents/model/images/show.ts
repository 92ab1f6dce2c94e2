import { invalidArgument } from "../../../../core/failure.ts";
import type { Drawing } from "../tools/reading/image-worker.ts";
import { pdfLimits, readAll } from "../tools/reading/pdf.ts";
import { readInThread } from "../tools/reading/thread.ts";
import { type Picture, readPicture } from "./header.ts";
import type { Drawn, ShowImages, ShownImage } from "./source.ts";

const canvas = "@napi-rs/canvas";
/** The limits with the package: bytes of a file, and pixels. */
const pixelsMax = 50_000_000;
/** The limits without it: what services accept. */
const plain = { bytes: 5 * 1024 ** 2, side: 8_000 } as const;
const install = `the operator can install the package ${canvas}, which makes smaller ones: atp packages add ${canvas}`;

/** @param findCanvas the folder `node_modules` that has the package; null without it. */
export const imageShower =
  (findCanvas: () => string | null): ShowImages =>
  async (source, signal) => {
    const folder = findCanvas();
    const { name, pages } = source;
    const draw = async (drawing: Omit<Drawing, "folder">, why: string): Promise<readonly ShownImage[]> => {
      const module = new URL("../tools/reading/image-worker.ts", import.meta.url);
      const drawn = await readInThread<readonly Drawn[]>(
        module,
        { ...drawing, folder },
        pdfLimits,
        why,
        signal,
      );
      return drawn.map((one, index) => ({ ...one, name: pages ? `page ${pages[index]} of ${name}` : name }));
    };
    if (pages) {
      if (folder === null)
        throw refuse(
          `pages without text are shown as pictures only with the package ${canvas}: the operator can install it with atp packages add ${canvas}`,
        );
      return draw(
        { bytes: await readAll({ filename: source.name, read: source.read }), pages },
        "the pages cannot be drawn: they are broken, or take too long",
      );
    }
    const picture = readPicture(Buffer.from(await readAll({ filename: source.name, read: source.read })));
    if (picture === null)
      throw refuse("it is not a PNG, JPEG, WebP or GIF picture, or it is broken or not complete");
    if (folder === null) return [{ ...checkPlain(picture), name }];
    const { width, height, bytes, mediaType } = picture;
    if (width * height > pixelsMax)
      throw refuse(`it has ${width} x ${height} pixels: at most ${pixelsMax / 1e6} million can be shown`);
    return draw({ bytes, mediaType }, "the picture cannot be decoded: it is broken, or takes too long");
  };

const refuse = (why: string) => invalidArgument("", why);

/** A picture that goes as it is. @throws Failure for one that services refuse. */
function checkPlain(picture: Picture): Picture {
  const { width, height, bytes } = picture;
  if (bytes.length > plain.bytes)
    throw refuse(`it has ${bytes.length} bytes: at most ${plain.bytes} can be shown; ${install}`);
  if (Math.max(width, height) > plain.side)
    throw refuse(
      `it has ${width} x ${height} pixels: at most ${plain.side} on a side can be shown; ${install}`,
    );
  return picture;
}
