/** A line of the log for people (LOG_FORMAT=pretty): time, level, message, other fields, and the stack of an error below. */

const levels: Readonly<Record<number, string>> = {
  10: "TRACE",
  20: "DEBUG",
  30: "INFO",
  40: "WARN",
  50: "ERROR",
  60: "FATAL",
};
const levelWidth = 5;

/** @param line JSON, as pino writes it */
export function prettyLine(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const at = typeof time === "number" ? `${new Date(time).toISOString()} ` : "";
  const name = (levels[Number(level)] ?? String(level)).padEnd(levelWidth);
  const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${shown(value)}`);
  return `${at}${name} ${plain(String(msg ?? ""))}${rest.join("")}${stackOf(err)}\n`;
}

function shown(value: unknown): string {
  return typeof value === "string" && /^[\w.:/@%+*(){}-]+$/.test(value) ? value : plain(JSON.stringify(value));
}

function stackOf(error: unknown): string {
  const { stack, message } = (error ?? {}) as { readonly stack?: unknown; readonly message?: unknown };
  const text = stack ?? message;
  if (text === undefined) return "";
  return String(text)
    .split("\n")
    .map((line) => `\n    ${plain(line.trim())}`)
    .join("");
}

/** A terminal would obey control characters. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
