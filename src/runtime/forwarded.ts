/**
 * What a proxy in front of the server says of a request (TRUST_PROXY): where it came from and whether it was encrypted. Anybody can
 * send these headers, so they count only where the configuration says that a proxy sets them.
 */
import { isIP } from "node:net";

export interface Forwarded {
  /** null: nothing usable was said, the connection's own address counts. */
  readonly address: string | null;
  readonly isSecure: boolean | null;
}

/** Reads a header of the request; "" when it is absent. */
export type ReadForwarded = (header: (name: string) => string) => Forwarded;

const unsaid: Forwarded = { address: null, isSecure: null };

export const ignoreForwarded: ReadForwarded = () => unsaid;

/** Of a chain of addresses only the last was written by our proxy: those before it are the client's word. */
export const readForwarded: ReadForwarded = (header) => {
  const address = header("x-forwarded-for").split(",").at(-1)?.trim() ?? "";
  const scheme = header("x-forwarded-proto").trim().toLowerCase();
  return {
    address: isIP(address) === 0 ? null : address,
    isSecure: scheme === "https" ? true : scheme === "http" ? false : null,
  };
};
