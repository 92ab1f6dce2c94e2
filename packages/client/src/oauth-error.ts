import { PlatformError } from "./errors.ts";

/** The authorization server refused. With `invalid_grant` the user must authorize again. */
export class OAuthError extends PlatformError {
  override readonly name = "OAuthError";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
