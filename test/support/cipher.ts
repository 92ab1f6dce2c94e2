import { cipherFrom } from "../../src/core/cipher.ts";
import { systemRandom } from "../../src/core/ids.ts";

/** The key of every test's installation. */
export const cipher = cipherFrom(Buffer.alloc(32, 7), systemRandom);
