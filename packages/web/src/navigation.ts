/** Where the page is: the fragment of its address, so that links, the back button and reloads work. */
import { batch, effect, signal } from "@preact/signals";
import { addLayerEntry, changeEntry, layersOfEntry, resumedPosition } from "./positions.ts";
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
  // Nothing leads back to what was open over the place that is left.
  history[entryDepth > 0 ? "replaceState" : "pushState"](null, "", href);
  arrive();
}

function arrive(): void {
  if (!changeEntry()) {
    turn();
    return;
  }
  entryDepth = layersOfEntry();
  closeLayers(0);
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

/** Closes each dialog, menu and side list that lies over the page; the last one is on top. */
const layers: (() => void)[] = [];
/**
 * Each layer has an entry of the history above its place's, with the same address. With a menu over a list at 1 and 2,
 * Back leads from 2 to 1 and closes the menu. A layer that is closed otherwise leaves its entry, which the next layer
 * uses, the next place replaces, and Back and Forward skip.
 */
let entryDepth = layersOfEntry();

/**
 * Back closes it, and so does a change of place.
 * @returns to be called when it is closed
 */
export function addLayer(close: () => void): () => void {
  layers.push(close);
  if (layers.length > entryDepth) addLayerEntry(++entryDepth);
  return () => {
    const at = layers.indexOf(close);
    if (at >= 0) layers.splice(at, 1);
  };
}

function closeLayers(left: number): void {
  for (const close of layers.splice(left).reverse()) close();
}

/** Back or Forward between the layers of a place. */
function turn(): void {
  const before = entryDepth;
  entryDepth = layersOfEntry();
  // The place may have followed its messages since the entry was made.
  replacePlace(place.peek());
  if (layers.length > entryDepth) closeLayers(entryDepth);
  else if (entryDepth < before) history.back();
  else history.forward();
}

export function watchAddress(): void {
  // What the empty topic is called is known after the registration.
  effect(() => {
    if (chat.value === null) return;
    const now = place.peek();
    if (settled(now) !== now) replacePlace(now);
  });
  addEventListener("popstate", arrive);
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
