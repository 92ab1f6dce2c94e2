import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";

const { scrypt } = crypto;
/** `N` of the hash of a new password (core/sign-in/password.ts). */
const installed = 2 ** 15;

/**
 * A hash of an installation takes 250 ms, and tests sign in a thousand times. The stored text still names the
 * cost of an installation.
 */
function quick(...[password, salt, length, options, callback]: Parameters<typeof scrypt>): void {
  scrypt(password, salt, length, options.N === installed ? { ...options, N: 2, p: 1 } : options, callback);
}

if (scrypt.name !== quick.name) {
  crypto.scrypt = quick as typeof scrypt; // the form without options has no caller
  syncBuiltinESMExports();
}
