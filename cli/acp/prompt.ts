import { type ContentBlock, RequestError } from "@agentclientprotocol/sdk";
import type { ContentPartInput, MessageInput } from "../../packages/client/src/index.ts";

/**
 * The parts of a message of a task for the blocks of a prompt. @throws RequestError for a block that a task
 * cannot take
 */
export const messageOf = (blocks: readonly ContentBlock[]): MessageInput => ({ content: blocks.map(partOf) });

function partOf(block: ContentBlock): ContentPartInput {
  if (block.type === "text") return text(block.text);
  // The agent works on the server, and cannot open files of the editor's machine.
  if (block.type === "resource_link") return text(`[${block.name}](${block.uri})`);
  if (block.type === "image") return file(block.data, block.mimeType);
  if (block.type === "resource") {
    const { resource } = block;
    return "text" in resource
      ? text(`${resource.uri}:\n\n${resource.text}`)
      : file(resource.blob, resource.mimeType ?? "application/octet-stream");
  }
  throw RequestError.invalidParams(
    { type: block.type },
    "prompt: the agent takes text, images, resources and links",
  );
}

const text = (content: string): ContentPartInput => ({ type: "text", text: content });
const file = (data: string, type: string): ContentPartInput => ({
  type: "file",
  file_data: `data:${type};base64,${data}`,
});
