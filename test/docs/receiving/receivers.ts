import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { need } from "../../support/needs.ts";
import { allOnPath, type ToolName } from "../../support/tools.ts";
import { blocksIn } from "../page.ts";

const run = promisify(execFile);

/** A delivery as received, and the data of its receiver. */
export interface Received {
  /** The registered URL. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** PEM. */
  readonly publicKey: string;
  /** `whsec_…` */
  readonly secret: string;
  /** `whpk_…` */
  readonly ed25519: string;
}

/** How the page's code in a language runs: a block of it, and a call of its two functions with a delivery. */
interface Language {
  /** The beginning of its blocks. */
  readonly name: string;
  readonly file: string;
  /** The program that runs it: each of this name is tried, because one may lack the code's imports. */
  readonly program: string;
  /** The tools that it needs on this machine. */
  readonly needs: readonly ToolName[];
  /** Prints for each of the two whether it matches; the delivery is in the environment. */
  readonly caller: string;
}

export const languages: readonly Language[] = [
  {
    name: "js",
    file: "receiver.mjs",
    program: "node",
    needs: [],
    caller: `
      import { readFileSync } from "node:fs";
      const { url, headers, publicKey, secret } = JSON.parse(process.env.GIVEN);
      const body = readFileSync(process.env.BODY);
      console.log(verifyDelivery(url, headers, body, publicKey), verifyStandard(secret, headers, body));`,
  },
  {
    name: "python",
    file: "receiver.py",
    program: "python3",
    needs: ["python-cryptography"],
    caller: `
import json, os
given = json.loads(os.environ["GIVEN"])
body = open(os.environ["BODY"], "rb").read()
fits = verify_delivery(given["url"], given["headers"], body, given["publicKey"].encode())
print(str(fits).lower(), str(verify_standard(given["secret"], given["headers"], body)).lower())`,
  },
  {
    name: "ruby",
    file: "receiver.rb",
    program: "ruby",
    needs: ["ruby"],
    caller: `
require "json"
given = JSON.parse(ENV["GIVEN"])
body = File.binread(ENV["BODY"])
fits = verify_delivery(given["url"], given["headers"], body, given["publicKey"])
puts "#{fits} #{verify_standard(given["secret"], given["headers"], body)}"`,
  },
  {
    name: "php",
    file: "receiver.php",
    program: "php",
    needs: ["php"],
    caller: `
$given = json_decode(getenv('GIVEN'), true);
$body = file_get_contents(getenv('BODY'));
$fits = [verify_delivery($given['url'], $given['headers'], $body, $given['publicKey']), verify_standard($given['secret'], $given['headers'], $body)];
echo implode(' ', array_map('json_encode', $fits));`,
  },
  {
    name: "bash",
    file: "receiver.sh",
    program: "bash",
    needs: ["bash", "openssl"],
    caller: `
verify_delivery "$URL" "$TIMESTAMP" "$SIGNATURE" "$BODY" "$PEM" && printf true || printf false
verify_standard "$ID" "$STANDARD_TIMESTAMP" "$STANDARD_SIGNATURE" "$BODY" "$ED25519" && echo ' true' || echo ' false'`,
  },
];

/** The page's code in a language, in a separate folder. */
export interface Receiver extends Disposable {
  /**
   * The result of its two functions: `true true` when both signatures match. @throws Error with its output on
   * failure.
   */
  verify(received: Received): Promise<string>;
}

/** Skips the test where a tool is missing on this machine. */
export async function openReceiver(page: string, language: Language): Promise<Receiver> {
  need(...language.needs);
  const [block = ""] = blocksIn(page, language.name);
  const folder = mkdtempSync(join(tmpdir(), "receiver-"));
  const file = join(folder, language.file);
  writeFileSync(file, `${block}${language.caller}\n`);
  const program = await workingProgram(language, folder, block);
  let count = 0;
  return {
    async verify(received) {
      count += 1;
      const [body, pem] = [join(folder, `body-${count}`), join(folder, `pem-${count}`)];
      writeFileSync(body, received.body);
      writeFileSync(pem, received.publicKey);
      const env = { PATH: process.env["PATH"] ?? "", BODY: body, PEM: pem, ...variablesOf(received) };
      return (await run(program, [file], { env })).stdout.trim();
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

function variablesOf({ headers, body: _, ...known }: Received) {
  const header = (name: string) => headers[name] ?? "";
  return {
    GIVEN: JSON.stringify({ ...known, headers }),
    URL: known.url,
    TIMESTAMP: header("x-webhook-timestamp"),
    SIGNATURE: header("x-webhook-signature"),
    ID: header("webhook-id"),
    STANDARD_TIMESTAMP: header("webhook-timestamp"),
    STANDARD_SIGNATURE: header("webhook-signature"),
    ED25519: known.ed25519,
  };
}

/**
 * The first program that runs the block alone. Debian's packages are for Debian's programs, which may come
 * later in the path.
 */
async function workingProgram(
  { file, name, program }: Language,
  folder: string,
  block: string,
): Promise<string> {
  const alone = join(folder, `alone-${file}`);
  writeFileSync(alone, block);
  for (const each of program === "node" ? [process.execPath] : allOnPath(program)) {
    const works = await run(each, [alone]).then(
      () => true,
      () => false,
    );
    if (works) return each;
  }
  rmSync(folder, { recursive: true });
  throw new Error(`no ${program} runs the page's code in ${name}`);
}
