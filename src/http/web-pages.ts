/**
 * The page (docs/web.md) and its assets, from the files that packages/web/build.mjs has made. They are read once, and
 * again when a newer build is there. Without a build the server has no page: its API works as before.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname } from "node:path";
import { refuse } from "../../schemas/errors.ts";
import type { HttpReply } from "../runtime/calls.ts";
import { errorPage, guardedBy, isKnownTag, type PageRequest, type PageRoute } from "./pages.ts";

/** The same from the sources and from the built program. */
const folder = new URL("../../packages/web/dist/", import.meta.url);

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
].join("; ");

/** By plain HTTP the server recognizes requests of its own pages by their Referer (D256). */
const guards: HttpReply["headers"] = [
  ...guardedBy(policy).filter(([name]) => name !== "Referrer-Policy"),
  ["Referrer-Policy", "same-origin"],
  ["Cross-Origin-Opener-Policy", "same-origin"],
];

const contentTypes: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

interface WebFile {
  readonly contentType: string;
  readonly plain: Buffer;
  /** Null: the format is compressed already. */
  readonly compressed: { readonly br: Buffer; readonly gzip: Buffer } | null;
  readonly etag: string;
}

interface Build {
  readonly builtAt: number;
  readonly files: ReadonlyMap<string, WebFile>;
}

function readBuild(builtAt: number): Build {
  const names = ["index.html", ...readdirSync(new URL("assets/", folder)).map((name) => `assets/${name}`)];
  const known = new Set(names);
  const files = new Map<string, WebFile>();
  for (const name of names) {
    const contentType = contentTypes[extname(name)];
    if (contentType === undefined) continue;
    const plain = readFileSync(new URL(name, folder));
    const isCompressed = name === "index.html" || known.has(`${name}.gz`);
    const read = (ending: string) => readFileSync(new URL(`${name}.${ending}`, folder));
    const compressed = isCompressed ? { br: read("br"), gzip: read("gz") } : null;
    const etag = `"${createHash("sha256").update(plain).digest("hex").slice(0, 32)}"`;
    files.set(name, { contentType, plain, compressed, etag });
  }
  return { builtAt, files };
}

let build: Build | null = null;

function fileOf(name: string): WebFile | null {
  const builtAt = statSync(new URL("built-from", folder), { throwIfNoEntry: false })?.mtimeMs;
  if (builtAt === undefined) return null;
  if (build?.builtAt !== builtAt) build = readBuild(builtAt);
  return build.files.get(name) ?? null;
}

/** The page itself is asked for again each time; an asset's name changes with its content. */
function serve(name: string, caching: string, { ifNoneMatch, acceptsGzip, acceptsBrotli }: PageRequest): HttpReply {
  const file = fileOf(name);
  if (file === null) return errorPage(refuse.notFound());
  const { contentType, plain, compressed, etag } = file;
  const headers: HttpReply["headers"] = [
    ...guards,
    ["Cache-Control", caching],
    ["ETag", etag],
    ...(compressed === null ? [] : [["Vary", "Accept-Encoding"] as const]),
  ];
  if (isKnownTag(ifNoneMatch, etag)) return { status: 304, body: "", headers };
  const coding = acceptsBrotli ? "br" : acceptsGzip ? "gzip" : null;
  if (compressed === null || coding === null) return { status: 200, body: plain, contentType, headers };
  return { status: 200, body: compressed[coding], contentType, headers: [...headers, ["Content-Encoding", coding]] };
}

export const webPages: readonly PageRoute[] = [
  {
    prefix: "/assets/",
    servesDeactivated: true,
    serve: (request) => serve(`assets/${request.rest}`, "public, max-age=31536000, immutable", request),
  },
  { prefix: "/", isWhole: true, servesDeactivated: true, serve: (request) => serve("index.html", "no-cache", request) },
];
