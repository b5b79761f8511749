/** Reads a private key and its certificate, and checks that they belong together before a transport uses them. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { TlsOptions } from "./transport.ts";

export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
  /** The DNS names of its first certificate, which may begin with `*.`. */
  readonly names: readonly string[];
}

/** More are not used: each has its routes in uWebSockets.js. */
const namesMax = 100;

/** @returns why it cannot be used, in one line */
export function readCertificate({ keyFile, certFile }: TlsOptions): Certificate | string {
  try {
    const [key, cert] = [readFileSync(keyFile), readFileSync(certFile)];
    createSecureContext({ key, cert });
    const { subjectAltName = "" } = new X509Certificate(cert);
    const names = [...subjectAltName.matchAll(/DNS:([^,\s"]+)/g)].map(([, name = ""]) => name.toLowerCase());
    return { key, cert, names: names.slice(0, namesMax) };
  } catch (error) {
    return (error as Error).message.split("\n")[0] ?? "";
  }
}
