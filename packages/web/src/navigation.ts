/** Where the page is: the fragment of its address, so that links, the back button and reloads work. */
import { addressOf, inbox, type Place, placeOf } from "./state/narrow.ts";
import { channelName, place } from "./store.ts";

export function hrefOf(target: Place): string {
  return addressOf(target, channelName);
}

/** At once: the next key may be for the new place, and the browser reports a changed fragment only later. */
export function go(target: Place): void {
  const href = hrefOf(target);
  if (location.hash === href) {
    place.value = target;
    return;
  }
  history.pushState(null, "", href);
  arrive();
}

function arrive(): void {
  for (const close of [...closers]) close();
  place.value = placeOf(location.hash) ?? inbox;
}

/** The present place has another address now; the back button does not lead to the old one. */
export function replacePlace(target: Place): void {
  history.replaceState(null, "", hrefOf(target));
  place.value = target;
}

/** Dialogs and menus that a change of place closes. */
const closers = new Set<() => void>();

export function onLeave(close: () => void): () => void {
  closers.add(close);
  return () => closers.delete(close);
}

export function watchAddress(): void {
  addEventListener("hashchange", arrive);
  document.addEventListener("click", (event) => {
    const { target } = event;
    if (event.defaultPrevented || event.button !== 0 || !(target instanceof Element)) return;
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const to = placeOf(target.closest<HTMLAnchorElement>('a[href^="#"]')?.getAttribute("href") ?? "");
    if (to === null) return;
    event.preventDefault();
    go(to);
  });
}
