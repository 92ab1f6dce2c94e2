import { Failure } from "../../../../core/failure.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { Prompt } from "../provider.ts";
import type { Request } from "../request.ts";
import type { Run } from "../run.ts";
import { partsOf } from "../transcript.ts";
import type { ImageSource, ShownImage } from "./source.ts";

/** The most images of one result, or of the files of one message. */
const shownMax = 10;

/** Pictures that the model gets, and what it reads about each of them, in the order of the sources. */
export interface Shown {
  readonly images: readonly ShownImage[];
  readonly notes: readonly JsonObject[];
}

/** Prepares pictures for the model, in the order of the sources. One that cannot be shown is named with the reason. */
export async function showImages(
  { config, showImages, turn }: Pick<Run, "config" | "showImages" | "turn">,
  sources: readonly ImageSource[],
): Promise<Shown> {
  const images: ShownImage[] = [];
  const notes: JsonObject[] = [];
  for (const source of sources) {
    const leave = (why: string) => notes.push({ image: source.name, not_shown: why });
    const count = source.pages?.length ?? 1;
    if (!config.images) leave("the model of this task takes no images");
    else if (images.length + count > shownMax)
      leave(`at most ${shownMax} images at once: read it if you need it`);
    else
      try {
        const shown = await showImages(source, turn.signal);
        images.push(...shown);
        notes.push(
          ...shown.map(({ name, width, height }) => ({ image: name, shown: `${width} x ${height} pixels` })),
        );
      } catch (thrown) {
        if (!(thrown instanceof Failure) || thrown.reason === "unavailable") throw thrown;
        leave(thrown.message);
      }
  }
  return { images, notes };
}

/** Adds images after the row to which they belong. */
export function addImages(
  { transcript, images }: Run,
  shown: readonly ShownImage[],
  toolCallId?: string,
): void {
  for (const { name, mediaType, width, height, bytes } of shown) {
    const id = partsOf(transcript.rows, "image").length + 1;
    images.set(id, Buffer.from(bytes).toString("base64"));
    transcript.add(
      "image",
      [
        {
          type: "image",
          id,
          name,
          mediaType,
          width,
          height,
          bytes: bytes.length,
          ...(toolCallId && { toolCallId }),
        },
      ],
      { image: async () => bytes },
    );
  }
}

/** The prompt of a request with the bytes of its images. */
export async function withImages(
  { images }: Pick<Run, "images">,
  { prompt, images: sent }: Request,
): Promise<Prompt> {
  if (sent.length === 0) return prompt;
  const left: string[] = [];
  for (const { id, image } of sent) {
    const data = images.get(id) ?? (image && Buffer.from(await image()).toString("base64"));
    if (data === undefined) throw new Error(`the bytes of image ${id} are missing`);
    images.set(id, data);
    left.push(data);
  }
  const ids = new Set(sent.map(({ id }) => id));
  for (const id of images.keys()) if (!ids.has(id)) images.delete(id);
  return prompt.map((message) =>
    message.role === "user"
      ? {
          ...message,
          content: message.content.map((part) =>
            part.type === "file"
              ? { ...part, data: { type: "data", data: left.shift() ?? "" } as const }
              : part,
          ),
        }
      : message,
  );
}
