import { browserHandlers } from "../rpc/browser.ts";
import type { CreateModule } from "./module.ts";

export const createBrowsers: CreateModule = ({ browsers }) => ({ handlers: [browserHandlers(browsers)] });
