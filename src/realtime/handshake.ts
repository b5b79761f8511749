/**
 * What an upgrade must say to become a WebSocket (RFC 6455, 4.2.1), which uWS leaves to us, and how often an idle connection
 * is asked whether it is still there.
 */

/** The only version of the protocol. */
export const protocolVersion = "13";

/** @returns why it is no handshake, or null */
export function handshakeFault(header: (name: string) => string): string | null {
  if (header("upgrade").toLowerCase() !== "websocket") return "Upgrade must be websocket";
  const tokens = header("connection").toLowerCase().split(",");
  if (!tokens.some((token) => token.trim() === "upgrade")) return "Connection must be Upgrade";
  if (header("sec-websocket-version") !== protocolVersion) return `Sec-WebSocket-Version must be ${protocolVersion}`;
  // 16 bytes in base64
  if (!/^[A-Za-z0-9+/]{22}==$/.test(header("sec-websocket-key"))) return "Sec-WebSocket-Key is missing or malformed";
  return null;
}

/**
 * uWS pings a connection that said nothing for `idleTimeout` less a margin, and ends it at `idleTimeout`. The margin is its
 * own: 4, 8 or 16 seconds, the most that leaves as much again before it.
 */
export function idleTimeoutOf(heartbeatS: number): number {
  return heartbeatS + (heartbeatS >= 16 ? 16 : heartbeatS >= 8 ? 8 : 4);
}
