/** Tells a person who is not looking: by the title, by the badge of the icon, and by notifications of the desktop. */
import { effect } from "@preact/signals";
import type { Events } from "../../client/src/exports.ts";
import { chat, unreadTotal } from "./store.ts";
import { loadLater } from "./views/lazy-views.ts";

/** What decides and shows it is loaded when it is needed. */
export function notify(event: Events["message"]): void {
  if (!("Notification" in window) || Notification.permission !== "granted" || !document.hidden) return;
  loadLater()
    .then(({ showNotification }) => showNotification(event))
    .catch(() => undefined);
}

/** Must be called by a click: browsers ask the person only then. */
export async function allowNotifications(): Promise<boolean> {
  return "Notification" in window && (await Notification.requestPermission()) === "granted";
}

export function watchTitle(): void {
  effect(() => {
    const count = unreadTotal.value;
    const name = chat.value?.realm_name ?? "Colloquy";
    document.title = count === 0 ? name : `(${count}) ${name}`;
    const badge = navigator as Navigator & { setAppBadge?(count: number): Promise<void> };
    badge.setAppBadge?.(count).catch(() => undefined);
  });
}
