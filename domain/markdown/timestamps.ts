// `<time:...>`: parses dates as users and clients write them to an instant in UTC. It uses neither the clock nor the
// machine's time zone (M4): a time without an offset is UTC, and years have four digits. Unknown formats give null and
// are shown as an error.

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
const OFFSET_FORM = `${[...MINUTES.keys()].join("|")}|[+-]\\d{1,2}(?::?\\d\\d)?`;

/** How far local time is ahead of UTC; NaN for a day or more, which no zone has. */
function offsetMs(offset: string): number {
  const named = MINUTES.get(offset.toUpperCase());
  if (named !== undefined) return named * MINUTE_MS;
  const [, sign, hours, minutes = "0"] = /^([+-])(\d{1,2}):?(\d\d)?$/.exec(offset) ?? [];
  const total = Number(hours) * 60 + Number(minutes);
  if (!(total < DAY_MINUTES)) return Number.NaN;
  return (sign === "-" ? -total : total) * MINUTE_MS;
}

const ISO_FORM = new RegExp(
  `^(\\d{4})-(\\d\\d)-(\\d\\d)(?:[T ](\\d\\d):(\\d\\d)(?::(\\d\\d)(?:\\.\\d{1,9})?)?)? ?(${OFFSET_FORM})?$`,
  "i",
);
const DAY_FIRST = /^(\d{1,2})(?:st|nd|rd|th)? ([a-z]{3,9})\.?,? (\d{4})(?:,? (.{1,40}))?$/i;
const MONTH_FIRST = /^([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})(?:,? (.{1,40}))?$/i;
// A numeric date with a time such as "3:04 pm"; other numeric formats are ISO. With slashes, the year may be last.
const DAY_AND_CLOCK = /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:,? (.{1,40}))?$/;
const MONTH_AND_CLOCK = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?:,? (.{1,40}))?$/;
const WEEKDAY = /^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? (?=.)/i;
const TIME_FORM = new RegExp(`^(\\d{1,2})(?::(\\d\\d)(?::(\\d\\d))?)? ?(am|pm)? ?(${OFFSET_FORM})?$`, "i");
const UNIX_FORM = /^-?\d{1,11}(?:\.\d{1,9})?$/;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const YEAR_MIN = 1;
const YEAR_MAX = 9999;

interface Fields {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  offset: string;
}

/** The instant as `YYYY-MM-DDTHH:MM:SSZ`, or null if the text is not a time. */
export function parseTimestamp(text: string): string | null {
  const trimmed = text.trim();
  if (UNIX_FORM.test(trimmed)) return format(Number(trimmed) * 1000);
  const fields = isoFields(trimmed) ?? namedFields(trimmed.replace(WEEKDAY, ""));
  return fields === null ? null : format(instantOf(fields));
}

function isoFields(text: string): Fields | null {
  const match = ISO_FORM.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour = "0", minute = "0", second = "0", offset = "Z"] = match;
  return numbers({ year, month, day, hour, minute, second }, offset);
}

function namedFields(text: string): Fields | null {
  const yearFirst = DAY_AND_CLOCK.exec(text);
  if (yearFirst !== null) {
    const [, year, , month, day, time] = yearFirst;
    return clockFields({ year, month, day }, time);
  }
  const yearLast = MONTH_AND_CLOCK.exec(text);
  if (yearLast !== null) {
    const [, month, day, year, time] = yearLast;
    return clockFields({ year, month, day }, time);
  }
  const dayFirst = DAY_FIRST.exec(text);
  const monthFirst = dayFirst === null ? MONTH_FIRST.exec(text) : null;
  const [day, name, year, time] = dayFirst
    ? [dayFirst[1], dayFirst[2], dayFirst[3], dayFirst[4]]
    : [monthFirst?.[2], monthFirst?.[1], monthFirst?.[3], monthFirst?.[4]];
  const month = MONTHS.indexOf(name?.slice(0, 3).toLowerCase() ?? "") + 1;
  return month === 0 ? null : clockFields({ year, month: String(month), day }, time);
}

/** A date and a time; without a time, the start of the day. */
function clockFields(
  { year, month, day }: Readonly<Record<"year" | "month" | "day", string | undefined>>,
  time: string | undefined,
): Fields | null {
  const clock = time === undefined ? ["", "0", "00", "00"] : TIME_FORM.exec(time.trim());
  if (clock === null) return null;
  const [, hour = "0", minute, second = "0", half, offset = "Z"] = clock;
  // A single number is an hour only with am or pm.
  if (minute === undefined && half === undefined) return null;
  if (half !== undefined && (Number(hour) < 1 || Number(hour) > 12)) return null;
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
  return numbers({ year, month, day, hour: String(hours), minute: minute ?? "0", second }, offset);
}

function numbers(text: Record<Exclude<keyof Fields, "offset">, string | undefined>, offset: string): Fields | null {
  const { year, month, day, hour, minute, second } = text;
  const fields: Fields = {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    offset,
  };
  const lastDay = new Date(dayMs(fields.year, fields.month, 0)).getUTCDate();
  const valid =
    fields.month >= 1 &&
    fields.month <= 12 &&
    fields.day >= 1 &&
    fields.day <= lastDay &&
    fields.hour <= 23 &&
    fields.minute <= 59 &&
    fields.second <= 59;
  return valid ? fields : null;
}

/** NaN for an invalid offset. */
function instantOf({ year, month, day, hour, minute, second, offset }: Fields): number {
  return dayMs(year, month - 1, day) + ((hour * 60 + minute) * 60 + second) * 1000 - offsetMs(offset);
}

/** `Date.UTC` maps years below 100 to the twentieth century. */
function dayMs(year: number, monthIndex: number, day: number): number {
  return new Date(0).setUTCFullYear(year, monthIndex, day);
}

function format(instantMs: number): string | null {
  const date = new Date(instantMs);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < YEAR_MIN || date.getUTCFullYear() > YEAR_MAX) return null;
  return `${date.toISOString().slice(0, 19)}Z`;
}
