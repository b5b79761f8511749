/** Where the page is: the fragment of its address, so that links, the back button and reloads work. */
import { addressOf, inbox, narrow, type Place, placeOf, type Term } from "./state/narrow.ts";
import { channelName, place } from "./store.ts";

export function hrefOf(target: Place): string {
  return addressOf(target, channelName);
}

export function go(target: Place): void {
  const href = hrefOf(target);
  if (location.hash === href) place.value = target;
  else location.hash = href;
}

/** Shows a message in its conversation. */
export function nearMessage(terms: readonly Term[], id: number): Place {
  return narrow(terms, id);
}

/** Dialogs and menus that a change of place closes. */
const closers = new Set<() => void>();

export function onLeave(close: () => void): () => void {
  closers.add(close);
  return () => closers.delete(close);
}

export function watchAddress(): void {
  addEventListener("hashchange", () => {
    for (const close of [...closers]) close();
    place.value = placeOf(location.hash) ?? inbox;
  });
}
