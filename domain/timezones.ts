/** Names of time zones (spec 2.3, timezone): IANA names from Node's data, stored in one canonical form. */
import { limits } from "../schemas/limits.ts";
import { codePoints } from "./text.ts";

/** Node's data (CLDR) keeps the first name that a zone ever had; these are the current names. */
const presentNames: Readonly<Record<string, string>> = {
  "Africa/Asmera": "Africa/Asmara",
  "America/Buenos_Aires": "America/Argentina/Buenos_Aires",
  "America/Catamarca": "America/Argentina/Catamarca",
  "America/Coral_Harbour": "America/Atikokan",
  "America/Cordoba": "America/Argentina/Cordoba",
  "America/Godthab": "America/Nuuk",
  "America/Indianapolis": "America/Indiana/Indianapolis",
  "America/Jujuy": "America/Argentina/Jujuy",
  "America/Louisville": "America/Kentucky/Louisville",
  "America/Mendoza": "America/Argentina/Mendoza",
  "Asia/Calcutta": "Asia/Kolkata",
  "Asia/Katmandu": "Asia/Kathmandu",
  "Asia/Rangoon": "Asia/Yangon",
  "Asia/Saigon": "Asia/Ho_Chi_Minh",
  "Atlantic/Faeroe": "Atlantic/Faroe",
  "Europe/Kiev": "Europe/Kyiv",
  "Pacific/Enderbury": "Pacific/Kanton",
  "Pacific/Ponape": "Pacific/Pohnpei",
  "Pacific/Truk": "Pacific/Chuuk",
};

/** IANA zones whose names have no area. */
const shortNames = new Set(
  (
    "Cuba Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya " +
    "NZ NZ-CHAT Navajo PRC Poland Portugal ROC ROK Singapore Turkey UCT UTC Universal W-SU Zulu " +
    "CET CST6CDT EET EST EST5EDT HST MET MST MST7MDT PST8PDT WET"
  ).split(" "),
);

/**
 * The stored form of a zone's name; null if there is no such zone. Offsets and Node's own abbreviations are not
 * accepted.
 */
export function canonicalTimezone(name: string): string | null {
  if (codePoints(name) > limits.timezone_code_points_max) return null;
  const isIana = shortNames.has(name) || (/^[A-Za-z]+\//.test(name) && !/^SystemV\//i.test(name));
  if (!isIana) return null;
  try {
    const known = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
    return presentNames[known] ?? known;
  } catch {
    return null;
  }
}
