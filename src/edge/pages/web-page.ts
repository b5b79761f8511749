/**
 * The page (docs/web.md): `GET /` and the files that it loads from `/assets/`, which packages/web/build.mjs makes. All of
 * them are read at the start: a request never reaches the disk, and a new build does not mix with the one that is served.
 */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { refuse } from "../../../schemas/errors.ts";
import { limits } from "../../../schemas/limits.ts";
import { type Coding, chooseCoding } from "../http/accepted-encoding.ts";
import { errorPage, guardedBy, isKnownTag, type PageRequest, type PageRoute } from "../http/pages.ts";
import type { HttpReply } from "../http/reply.ts";
import { messagePage } from "./small-pages.ts";

/** From the sources, or from a built program. */
const toRoot = import.meta.url.endsWith(".ts") ? "../../../" : "../../";
/** Where the build is. */
export const builtPageFolder = fileURLToPath(new URL(`${toRoot}packages/web/dist`, import.meta.url));

/** Within it: the operator's page, which only the admin listener serves. */
export const adminFolder = "admin";

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** Copies that the build makes, in the order of preference. */
const endings: readonly (readonly [Coding, string])[] = [
  ["br", ".br"],
  ["gzip", ".gz"],
];

interface WebFile {
  readonly contentType: string;
  readonly plain: Buffer;
  readonly compressed: ReadonlyMap<Coding, Buffer>;
  readonly etag: string;
}

export interface WebPage {
  readonly index: WebFile;
  /** By name, without a folder. */
  readonly assets: ReadonlyMap<string, WebFile>;
}

/** The page is there, but cannot be served. */
export class BadWebPage extends Error {
  override readonly name = "BadWebPage";
}

/**
 * @returns null if the page is not built
 * @throws BadWebPage
 */
export function loadWebPage(folder: string): WebPage | null {
  if (!existsSync(join(folder, "index.html"))) return null;
  try {
    const reader = new BoundedReader(folder);
    const assetsFolder = join(folder, "assets");
    const names = readdirSync(assetsFolder).filter((name) => extname(name) in contentTypes);
    const index = readWebFile(join(folder, "index.html"), reader);
    return { index, assets: new Map(names.map((name) => [name, readWebFile(join(assetsFolder, name), reader)])) };
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    throw new BadWebPage(
      `the page in ${folder} cannot be read: ${error.message}. Remove that folder, then build it again: npm run build`,
    );
  }
}

/** Reads files until they are too many, or too large together (S3). */
class BoundedReader {
  readonly #folder: string;
  #files = 0;
  #bytes = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  read(path: string): Buffer {
    this.#files++;
    this.#bytes += statSync(path).size;
    if (this.#files > limits.web_files_max || this.#bytes > limits.web_bytes_max) {
      const most = `${limits.web_files_max} files or ${limits.web_bytes_max} bytes`;
      throw new BadWebPage(
        `the page in ${this.#folder} has more than ${most}. Remove that folder, then build it again: npm run build`,
      );
    }
    return readFileSync(path);
  }
}

function readWebFile(path: string, reader: BoundedReader): WebFile {
  const plain = reader.read(path);
  const copies = endings.filter(([, ending]) => existsSync(path + ending));
  return {
    contentType: contentTypes[extname(path)] ?? "application/octet-stream",
    plain,
    compressed: new Map(copies.map(([coding, ending]) => [coding, reader.read(path + ending)])),
    etag: `"${createHash("sha256").update(plain).digest("hex").slice(0, 32)}"`,
  };
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  // The page parses the HTML of messages in one place, packages/web/src/parsed-html.ts.
  "require-trusted-types-for 'script'",
  "trusted-types colloquy",
].join("; ");

/** By plain HTTP the server recognizes requests of its own pages by their Referer (D256). */
const guards: HttpReply["headers"] = [
  ...guardedBy(policy).filter(([name]) => name !== "Referrer-Policy"),
  ["Referrer-Policy", "same-origin"],
  ["Cross-Origin-Opener-Policy", "same-origin"],
  ["Cross-Origin-Resource-Policy", "same-origin"],
];

/** How long a browser may keep a file: an asset's name changes with its content. */
const caching = { document: "no-cache", asset: "public, max-age=31536000, immutable" } as const;

export function webFileReply(
  file: WebFile,
  kept: keyof typeof caching,
  { ifNoneMatch, acceptEncoding }: Pick<PageRequest, "ifNoneMatch" | "acceptEncoding">,
): HttpReply & { readonly body: string | Buffer } {
  const { contentType, plain, compressed, etag } = file;
  const headers: HttpReply["headers"] = [
    ...guards,
    ["Cache-Control", caching[kept]],
    ["ETag", etag],
    ...(compressed.size === 0 ? [] : [["Vary", "Accept-Encoding"] as const]),
  ];
  if (isKnownTag(ifNoneMatch, etag)) return { status: 304, body: "", headers };
  const coding = chooseCoding(acceptEncoding, [...compressed.keys()]);
  const body = coding === null ? undefined : compressed.get(coding);
  if (coding === null || body === undefined) return { status: 200, body: plain, contentType, headers };
  return { status: 200, body, contentType, headers: [...headers, ["Content-Encoding", coding]] };
}

const notBuilt = {
  title: "The page is not built",
  text: "This server was started without its web page. Run `npm run build` in its folder, then start it again. Other clients can use the server as it is; /api/docs describes its API.",
};

/** @param page null if it is not built */
export function webPages(page: WebPage | null): readonly PageRoute[] {
  const open = { servesDeactivated: true } as const;
  return [
    {
      ...open,
      prefix: "/assets/",
      serve(request) {
        const file = page?.assets.get(request.rest);
        if (file === undefined) return errorPage(refuse.notFound());
        return webFileReply(file, "asset", request);
      },
    },
    {
      ...open,
      prefix: "/",
      isWhole: true,
      serve: (request) => (page === null ? messagePage(404, notBuilt) : webFileReply(page.index, "document", request)),
    },
  ];
}
