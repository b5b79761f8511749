/** What is open over the page: the views that show it are loaded later (later.ts). */
import { signal } from "@preact/signals";

export const openedPerson = signal<number | null>(null);

export function openPerson(userId: number): void {
  openedPerson.value = userId;
}

export interface OpenedImage {
  readonly href: string;
  readonly isVideo: boolean;
}

export const openedImage = signal<OpenedImage | null>(null);

export function openImage(next: OpenedImage): void {
  openedImage.value = next;
}

export const isHelpOpen = signal(false);

/** Closes what is open and not shown yet: a dialog closes itself. @returns whether there was one */
export function closeOpened(): boolean {
  const isOpen = isHelpOpen.peek() || openedPerson.peek() !== null || openedImage.peek() !== null;
  isHelpOpen.value = false;
  openedPerson.value = null;
  openedImage.value = null;
  return isOpen;
}
