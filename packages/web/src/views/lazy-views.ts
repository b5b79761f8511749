/**
 * Views, and parts without one, that are loaded once the first view is there, so that they open at once, and without a
 * network. Whoever opens one earlier waits for it.
 */
import type { ComponentType } from "preact";
import { lazy } from "./parts.tsx";

type Later = typeof import("./later.ts");
let later: Later | null = null;

export async function loadLater(): Promise<Later> {
  later ??= await import("./later.ts");
  return later;
}

/** Null until it has come; whoever asks has it loaded. */
export function peekLater(): Later | null {
  if (later === null) loadLater().catch(() => undefined);
  return later;
}

const viewOf = <P extends object>(pick: (views: Later) => ComponentType<P>, takesKeys = false) =>
  lazy(async () => pick(await loadLater()), {
    peek: () => (later === null ? null : pick(later)),
    takesKeys,
  });

export const Drafts = viewOf((views) => views.Drafts);
export const EditBox = viewOf((views) => views.EditBox, true);
export const EmojiPicker = viewOf((views) => views.EmojiPicker, true);
export const ImageViewer = viewOf((views) => views.ImageViewer, true);
export const KeyboardHelp = viewOf((views) => views.KeyboardHelp, true);
export const MessageDialogs = viewOf((views) => views.MessageDialogs, true);
export const MessageWidget = viewOf((views) => views.MessageWidget);
export const OwnMenu = viewOf((views) => views.OwnMenu, true);
export const PersonCard = viewOf((views) => views.PersonCard, true);
export const Preview = viewOf((views) => views.Preview);
export const ScheduleDialog = viewOf((views) => views.ScheduleDialog, true);
export const ScheduledMessages = viewOf((views) => views.ScheduledMessages);
