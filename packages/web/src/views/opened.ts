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
