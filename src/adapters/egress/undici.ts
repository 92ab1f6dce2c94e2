import { lazyPackage } from "../../async/lazy.ts";

/** The HTTP client of all requests to addresses from users. */
export const undici = lazyPackage<typeof import("undici")>("undici");
