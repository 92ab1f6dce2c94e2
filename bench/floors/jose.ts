// The floor of token issuance: node:http and one signature of jose, without storage.
import { randomUUID } from "node:crypto";
import { generateKeyPair, SignJWT } from "jose";
import { serve } from "./serve.ts";

const algorithm = "ES256";
const { privateKey } = await generateKeyPair(algorithm);
const issuer = `http://127.0.0.1:${process.env["PORT"]}`;

async function sign(): Promise<object> {
  const token = await new SignJWT({
    client_id: "bench",
    scope: "create_task manage_all_tasks",
    fam: randomUUID(),
    gen: 1,
  })
    .setProtectedHeader({ typ: "at+jwt", alg: algorithm, kid: "bench" })
    .setIssuer(issuer)
    .setAudience(issuer)
    .setSubject(randomUUID())
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime("24 h")
    .sign(privateKey);
  return { access_token: token };
}

serve({ "/sign": sign });
