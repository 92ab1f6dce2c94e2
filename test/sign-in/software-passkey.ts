import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const sha256 = (data: Uint8Array | string): Buffer => createHash("sha256").update(data).digest();

/** What a passkey says about where it was used; the wrong values are for attacks. */
interface Place {
  /** Of CONSENT_URL in the tests. */
  readonly origin?: string;
  readonly rpId?: string;
  readonly counter?: number;
  readonly userVerified?: boolean;
}

interface Options {
  readonly challenge: string;
  readonly user?: { readonly id: string };
}

/** A passkey in software: what browsers send for it, as JSON. */
export interface SoftwarePasskey {
  readonly id: string;
  create(options: Options, place?: Place): string;
  use(options: Options, place?: Place): string;
}

const byteText = (bytes: Uint8Array): Buffer => Buffer.concat([cborHead(2, bytes.length), bytes]);
const cborText = (text: string): Buffer => Buffer.concat([cborHead(3, text.length), Buffer.from(text)]);
function cborHead(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  return Buffer.from(
    length < 256 ? [(major << 5) | 24, length] : [(major << 5) | 25, length >> 8, length & 0xff],
  );
}

/** An authenticator with one ES256 passkey and attestation none (Web Authentication 6.5, RFC 9053). */
export function softwarePasskey(at: Required<Pick<Place, "origin" | "rpId">>): SoftwarePasskey {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const rawId = randomBytes(32);
  const id = base64url(rawId);
  let userHandle = "";
  const cose = Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    byteText(Buffer.from(x, "base64url")),
    Buffer.from([0x22]),
    byteText(Buffer.from(y, "base64url")),
  ]);

  function authenticatorData(
    { rpId = at.rpId, counter = 0, userVerified = true }: Place,
    attested: Buffer,
  ): Buffer {
    const flags = 0x01 | (userVerified ? 0x04 : 0) | (attested.length > 0 ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, attested]);
  }
  const clientData = (type: string, { challenge }: Options, { origin = at.origin }: Place): Buffer =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const answer = (response: object): string =>
    JSON.stringify({ id, rawId: id, type: "public-key", clientExtensionResults: {}, response });

  return {
    id,
    create(options, place = {}) {
      userHandle = options.user?.id ?? "";
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, rawId.length]), rawId, cose]);
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        ...[cborText("fmt"), cborText("none"), cborText("attStmt"), Buffer.from([0xa0])],
        ...[cborText("authData"), byteText(authenticatorData(place, attested))],
      ]);
      const clientDataJSON = clientData("webauthn.create", options, place);
      return answer({
        clientDataJSON: base64url(clientDataJSON),
        attestationObject: base64url(attestationObject),
      });
    },
    use(options, place = {}) {
      const data = authenticatorData(place, Buffer.alloc(0));
      const clientDataJSON = clientData("webauthn.get", options, place);
      const signature = sign("sha256", Buffer.concat([data, sha256(clientDataJSON)]), privateKey);
      return answer({
        ...{ clientDataJSON: base64url(clientDataJSON), authenticatorData: base64url(data) },
        ...{ signature: base64url(signature), userHandle },
      });
    },
  };
}
