/** The program that a user logs in with, in words that a user recognizes: "Firefox on Linux", or the client's name. */
import { limits } from "../../../schemas/limits.ts";
import { clientName } from "./client-name.ts";

/** In this order: most browsers name others for compatibility. */
const browsers: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\b(?:Edg|EdgA|EdgiOS)\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|Chromium|CriOS|HeadlessChrome)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

const systems: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPad|iPod)\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

export function programName(userAgent: string): string {
  if (!userAgent.startsWith("Mozilla/")) return clientName(userAgent);
  const known = userAgent.slice(0, limits.user_agent_read_characters_max);
  const browser = browsers.find(([pattern]) => pattern.test(known))?.[1] ?? "Browser";
  const system = systems.find(([pattern]) => pattern.test(known))?.[1];
  return system === undefined ? browser : `${browser} on ${system}`;
}
