/** Times and days in the words of the person's language. */
import { serverNow } from "./server-clock.ts";
import { settings } from "./store.ts";

const dayMs = 86_400_000;
const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const yearFormat = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" });
const shortFormat = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** The same format by a clock of 24 hours and by one of 12. */
export function onBothClocks(options: Intl.DateTimeFormatOptions) {
  const withCycle = (hourCycle: "h23" | "h12") => new Intl.DateTimeFormat(undefined, { ...options, hourCycle });
  const [of24, of12] = [withCycle("h23"), withCycle("h12")];
  return (date: Date | number) => (settings.value?.twenty_four_hour_time === true ? of24 : of12).format(date);
}

const clock = onBothClocks({ hour: "numeric", minute: "2-digit" });
const full = onBothClocks({ dateStyle: "full", timeStyle: "short" });
export const dateAndTime = onBothClocks({ dateStyle: "medium", timeStyle: "short" });

export function startOfDay(timestamp: number): number {
  return new Date(timestamp * 1000).setHours(0, 0, 0, 0);
}

export function clockOf(timestamp: number): string {
  return clock(timestamp * 1000);
}

export function fullTime(timestamp: number): string {
  return full(timestamp * 1000);
}

export function dayOf(timestamp: number): string {
  const day = startOfDay(timestamp);
  const today = new Date(serverNow()).setHours(0, 0, 0, 0);
  const days = Math.round((today - day) / dayMs);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return days < 300 ? dayFormat.format(day) : yearFormat.format(day);
}

/** Minutes or hours for today, a day otherwise. */
export function agoOf(timestamp: number): string {
  const seconds = serverNow() / 1000 - timestamp;
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (startOfDay(timestamp) === new Date(serverNow()).setHours(0, 0, 0, 0)) return clockOf(timestamp);
  return shortFormat.format(timestamp * 1000);
}
