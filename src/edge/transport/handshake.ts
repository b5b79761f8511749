/** The checks of a WebSocket handshake that the transports do not make. */
import { limits } from "../../../schemas/limits.ts";

/** The only supported protocol version. */
export const protocolVersion = "13";

/** @returns why it is not a handshake (RFC 6455, 4.2.1), or null; a transport checks less */
export function handshakeFault(header: (name: string) => string): string | null {
  if (header("upgrade").toLowerCase() !== "websocket") return "Upgrade must be websocket";
  const tokens = header("connection").toLowerCase().split(",");
  if (!tokens.some((token) => token.trim() === "upgrade")) return "Connection must be Upgrade";
  if (header("sec-websocket-version") !== protocolVersion) return `Sec-WebSocket-Version must be ${protocolVersion}`;
  if (header("host").length > limits.host_header_bytes_max) return "The Host header is too long";
  // 16 bytes in base64
  if (!/^[A-Za-z0-9+/]{22}==$/.test(header("sec-websocket-key"))) return "Sec-WebSocket-Key is missing or malformed";
  return null;
}
