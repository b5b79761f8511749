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

/** Parses the forwarding headers of a request. `header` returns "" for an absent header. */
export type ReadForwarded = (header: (name: string) => string) => Forwarded;

const unsaid: Forwarded = { address: null, isSecure: null };

export const ignoreForwarded: ReadForwarded = () => unsaid;

/** Only the last address of the chain was written by our proxy. The client can forge those before it. */
export const readForwarded: ReadForwarded = (header) => {
  const address = header("x-forwarded-for").split(",").at(-1)?.trim() ?? "";
  const scheme = header("x-forwarded-proto").trim().toLowerCase();
  return {
    address: isIP(address) === 0 ? null : address,
    isSecure: scheme === "https" ? true : scheme === "http" ? false : null,
  };
};
