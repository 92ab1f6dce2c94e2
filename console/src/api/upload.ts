import { FileService } from "#proto/file/v2/file_service_pb.ts";
import { clientOf } from "./client.ts";

/** A file on its way to the server, or there. */
export interface Upload {
  readonly key: string;
  readonly name: string;
  readonly size: number;
  /** 0 to 1. */
  readonly progress: number;
  /** Set once the server has all bytes. */
  readonly fileId?: string;
  readonly error?: unknown;
}

/**
 * Uploads a file. XMLHttpRequest reports progress; fetch does not.
 *
 * @returns the id to attach.
 */
export async function uploadFile(
  file: File,
  onProgress: (progress: number) => void,
  signal: AbortSignal,
): Promise<string> {
  const { file: record, uploadUrl } = await clientOf(FileService).uploadFile(
    { filename: file.name },
    { signal },
  );
  await put(uploadUrl, file, onProgress, signal);
  return record?.id ?? "";
}

function put(
  address: string,
  file: File,
  onProgress: (progress: number) => void,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
    request.onload = () => (request.status < 300 ? resolve() : reject(new Error(`${request.status}`)));
    request.onerror = () => reject(new Error("network"));
    request.onabort = () => reject(new DOMException("aborted", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.open("PUT", address);
    request.send(file);
  });
}
