// Offsets from UTC as users write them: in digits, or by abbreviation. Some abbreviations are ambiguous; they have the
// meaning that clients of this API expect (`IST` is India's).

const HOURS_BY_NAME = `
SST -11 | HST -10 | AKST -9 | HDT -9 | AKDT -8 | PST -8 | MST -7 | PDT -7 | CST -6 | MDT -6 | CDT -5 | EST -5 | AST -4 |
EDT -4 | NST -3.5 | ADT -3 | NDT -2.5 | GMT 0 | UTC 0 | WET 0 | Z 0 | BST 1 | CET 1 | MET 1 | WAT 1 | WEST 1 | CAT 2 |
CEST 2 | EET 2 | MEST 2 | SAST 2 | EAT 3 | EEST 3 | IDT 3 | MSK 3 | PKT 5 | IST 5.5 | WIB 7 | AWST 8 | HKT 8 | WITA 8 |
JST 9 | KST 9 | WIT 9 | ACST 9.5 | AEST 10 | CHST 10 | ACDT 10.5 | AEDT 11 | NZST 12 | NZDT 13
`;

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

const MINUTES: ReadonlyMap<string, number> = new Map(
  HOURS_BY_NAME.split("|").map((entry) => {
    const [name = "", hours = ""] = entry.trim().split(" ");
    return [name, Number(hours) * 60];
  }),
);

/** Pattern of an offset, for case-insensitive use. */
export const OFFSET_FORM = `${[...MINUTES.keys()].join("|")}|[+-]\\d{1,2}(?::?\\d\\d)?`;

/** How far local time is ahead of UTC; NaN for a day or more, which no zone has. */
export function offsetMs(offset: string): number {
  const named = MINUTES.get(offset.toUpperCase());
  if (named !== undefined) return named * MINUTE_MS;
  const [, sign, hours, minutes = "0"] = /^([+-])(\d{1,2}):?(\d\d)?$/.exec(offset) ?? [];
  const total = Number(hours) * 60 + Number(minutes);
  if (!(total < DAY_MINUTES)) return Number.NaN;
  return (sign === "-" ? -total : total) * MINUTE_MS;
}
