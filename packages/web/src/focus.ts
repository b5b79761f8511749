/** Where the focus goes when what had it is gone. */

/** To the selected message, or else to the middle of the page: never to the body, from where Tab begins at the top. */
export function returnFocus(): void {
  const row = document.querySelector<HTMLElement>(".feed .message.cursor");
  (row ?? document.getElementById("main"))?.focus({ preventScroll: true });
}

/** @param before what had the focus before something opened over it */
export function giveBackFocus(before: Element | null): void {
  if (!(before instanceof HTMLElement) || before === document.body || !before.isConnected) {
    returnFocus();
    return;
  }
  // The buttons of a message are shown while the focus is in it.
  before.closest<HTMLElement>(".feed [data-id]")?.focus({ preventScroll: true });
  before.focus();
}
