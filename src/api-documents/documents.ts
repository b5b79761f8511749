/** The documents and their page as clients get them. Each is made when it is first asked for, and then kept. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { asyncApiDocument } from "./asyncapi.ts";
import { loadExamples, loadFrameExamples } from "./examples.ts";
import { openApiDocument } from "./openapi.ts";
import { documentPage, pagePolicy } from "./page.ts";

export interface EncodedDocument {
  readonly contentType: string;
  /** Content-Security-Policy: what the document may make a browser load. */
  readonly policy: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  /** The same for both encodings, so it is a weak one. */
  readonly etag: string;
}

export type DocumentName = "openapi" | "asyncapi" | "page";

const nothing = "default-src 'none'; frame-ancestors 'none'";

interface Source {
  readonly contentType: string;
  readonly policy: string;
  text(): Promise<string>;
}

const sources: Readonly<Record<DocumentName, Source>> = {
  openapi: {
    contentType: "application/json",
    policy: nothing,
    text: async () => JSON.stringify(openApiDocument(await loadExamples())),
  },
  asyncapi: {
    contentType: "application/json",
    policy: nothing,
    text: async () => JSON.stringify(asyncApiDocument(await loadFrameExamples())),
  },
  page: {
    contentType: "text/html; charset=utf-8",
    policy: pagePolicy,
    text: async () => documentPage(openApiDocument(await loadExamples()), asyncApiDocument(await loadFrameExamples())),
  },
};

const compress = promisify(gzip);

async function encode({ contentType, policy, text }: Source): Promise<EncodedDocument> {
  const plain = Buffer.from(await text());
  const etag = `W/"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  return { contentType, policy, plain, gzipped: await compress(plain, { level: 9 }), etag };
}

const made = new Map<DocumentName, Promise<EncodedDocument>>();

/** The same for every organization and caller: it depends on the program only. */
export function encodedDocument(name: DocumentName): Promise<EncodedDocument> {
  let document = made.get(name);
  if (document === undefined) {
    document = encode(sources[name]);
    made.set(name, document);
  }
  return document;
}
