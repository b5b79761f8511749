/**
 * Reads what a reverse proxy says about a request (TRUST_PROXY): the client's address, and whether the connection was
 * encrypted. Any client can send these headers, so they are used only if the configuration says that a proxy sets them.
 */
import { isIP } from "node:net";

export interface Forwarded {
  /** null if the header had no usable address; the connection's own address is used then. */
  readonly address: string | null;
  readonly isSecure: boolean | null;
}

/** A request. */
export interface Headers {
  /** The first header of that name, which is in lower case; "" when it is absent. */
  getHeader(name: string): string;
  /** Visits every header in the order of arrival; names are in lower case. */
  forEach(visit: (name: string, value: string) => void): void;
}

/** Reads the forwarding headers of a request. */
export type ReadForwarded = (headers: Headers) => Forwarded;

const unsaid: Forwarded = { address: null, isSecure: null };

export const ignoreForwarded: ReadForwarded = () => unsaid;

/**
 * Only the last address was written by our proxy, as the end of the client's header or as a header after it. The client
 * can forge those before it.
 */
export const readForwarded: ReadForwarded = (headers) => {
  let chain = "";
  let scheme = "";
  headers.forEach((name, value) => {
    if (name === "x-forwarded-for") chain = value;
    else if (name === "x-forwarded-proto") scheme = value.trim().toLowerCase();
  });
  const address = chain.split(",").at(-1)?.trim() ?? "";
  return {
    address: isIP(address) === 0 ? null : address,
    isSecure: scheme === "https" ? true : scheme === "http" ? false : null,
  };
};
