/** Where the page is: the fragment of its address, so that links, the back button and reloads work. */
import { batch, effect, signal } from "@preact/signals";
import { changeEntry, resumedPosition } from "./positions.ts";
import { addressOf, inbox, narrowKey, type Place, placeOf } from "./state/narrow.ts";
import { channelName, chat, place, topicNamed } from "./store.ts";

/** Rises when a person goes elsewhere, and not when a place follows its messages. */
export const visit = signal(0);

export function hrefOf(target: Place): string {
  return addressOf(target, channelName);
}

/** Names of topics are those that the server gives them, so that messages reach the place. */
function settled(target: Place): Place {
  if (target.kind !== "narrow") return target;
  const terms = target.terms.map((term) => {
    if (term.operator !== "topic" || typeof term.operand !== "string") return term;
    const operand = topicNamed(term.operand);
    return operand === term.operand ? term : { ...term, operand };
  });
  return terms.every((term, at) => term === target.terms[at]) ? target : { ...target, terms };
}

/** Whether nothing but the message that the place follows is different. */
function isSamePlace(a: Place, b: Place): boolean {
  if (a.kind !== "narrow" || b.kind !== "narrow") return false;
  return narrowKey(a.terms) === narrowKey(b.terms) && a.near === b.near;
}

/** At once: the next key may be for the new place, and the browser reports a changed fragment only later. */
export function go(wanted: Place): void {
  const target = settled(wanted);
  const href = hrefOf(target);
  const now = place.peek();
  if (location.hash === href || isSamePlace(now, target)) {
    place.value = isSamePlace(now, target) ? { ...now } : target;
    return;
  }
  history.pushState(null, "", href);
  arrive();
}

function arrive(): void {
  changeEntry();
  for (const close of [...closers]) close();
  enter(settled(placeOf(location.hash) ?? inbox));
}

function enter(target: Place): void {
  const now = place.peek();
  const isHere = now.kind === "narrow" && target.kind === "narrow" && narrowKey(now.terms) === narrowKey(target.terms);
  batch(() => {
    if (!isHere || resumedPosition() !== null) visit.value++;
    place.value = target;
  });
}

/** The present place has another address now; the back button does not lead to the old one. */
export function replacePlace(wanted: Place): void {
  const target = settled(wanted);
  history.replaceState(history.state, "", hrefOf(target));
  place.value = target;
}

/** Dialogs and menus that a change of place closes. */
const closers = new Set<() => void>();

export function onLeave(close: () => void): () => void {
  closers.add(close);
  return () => closers.delete(close);
}

export function watchAddress(): void {
  // What the empty topic is called is known after the registration.
  effect(() => {
    if (chat.value === null) return;
    const now = place.peek();
    if (settled(now) !== now) replacePlace(now);
  });
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
