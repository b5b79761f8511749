/** The server's time: a machine's clock may be wrong by an hour, and times of messages and presence are the server's. */

/** An answer takes a while, and the server's seconds may be whole ones. */
const toleranceMs = 5_000;
let aheadMs = 0;

/** @param seconds the server's time in an answer that has just arrived */
export function noteServerTime(seconds: number | undefined): void {
  if (seconds === undefined) return;
  const difference = seconds * 1000 - Date.now();
  aheadMs = Math.abs(difference) < toleranceMs ? 0 : difference;
}

/** Milliseconds since 1970, as the server counts them. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}
