/** Numbers with their units, short enough for a tile. */
const counts = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export type Unit = "count" | "perSecond" | "seconds" | "bytes" | "ratio";

/** Three digits that matter. */
function short(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 10_000) return compact.format(value);
  if (size >= 100) return counts.format(value);
  return String(Number(value.toPrecision(size >= 10 ? 3 : 2)));
}

function duration(seconds: number): string {
  if (seconds === 0) return "0 ms";
  if (seconds < 0.001) return `${short(seconds * 1e6)} µs`;
  return seconds < 1 ? `${short(seconds * 1000)} ms` : `${short(seconds)} s`;
}

const byteUnits = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

export function bytes(value: number): string {
  const power = Math.min(byteUnits.length - 1, Math.floor(Math.log2(Math.max(1, value)) / 10));
  return `${short(value / 1024 ** power)} ${byteUnits[power]}`;
}

const formats: Readonly<Record<Unit, (value: number) => string>> = {
  count: short,
  perSecond: (value) => `${short(value)}/s`,
  seconds: duration,
  bytes,
  ratio: (value) => `${short(value * 100)} %`,
};

/** A dash for what is not measured. */
export function shown(value: number | null | undefined, unit: Unit): string {
  return value === null || value === undefined ? "–" : formats[unit](value);
}

/** How long something has lasted: days and hours, or less. */
export function age(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [minutes, hours, days] = [60, 3600, 86_400].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ];
  if (days > 0) return `${days} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min` : `${seconds} s`;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export const clockOf = (at: number): string => clock.format(at);
export const dateOf = (at: number | string): string => date.format(new Date(at));
